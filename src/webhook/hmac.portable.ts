export const probe = (): string => 'portable'

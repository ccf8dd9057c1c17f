import { createHmac } from 'node:crypto'
export const probe = (): string => `node ${createHmac('sha256', 'k').update('x').digest('hex')}`

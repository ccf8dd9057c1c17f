import { probe } from '#hmac'
export const x = (): string => probe()

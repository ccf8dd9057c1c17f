import { vi } from 'vitest'
import type * as Hmac from '../../src/webhook/verify/hmac.portable.ts'

export type Webhook = typeof import('campaign-client/webhook')

const HMAC = {
  node: () => import('../../src/webhook/verify/hmac.node.ts'),
  portable: () => import('../../src/webhook/verify/hmac.portable.ts'),
}

/** The two builds of the HMAC. Both must return the same results. */
export const BUILDS = ['node', 'portable'] as const
export type Build = (typeof BUILDS)[number]

export const loadHmac = (build: Build): Promise<typeof Hmac> => HMAC[build]()

/** Loads the webhook entry point with one build of the HMAC. */
export async function loadWebhook(build: Build): Promise<Webhook> {
  vi.resetModules()
  vi.doMock('#hmac', HMAC[build])
  try {
    return await import('campaign-client/webhook')
  } finally {
    vi.doUnmock('#hmac')
  }
}

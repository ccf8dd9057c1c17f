import { vi } from 'vitest'
import type * as Crypto from '../../src/webhook/crypto.portable.ts'

export type Webhook = typeof import('campaign-client/webhook')

const CRYPTO = {
  node: () => import('../../src/webhook/crypto.node.ts'),
  portable: () => import('../../src/webhook/crypto.portable.ts'),
}

/** The two builds of the cryptography. Both must return the same results. */
export const BUILDS = ['node', 'portable'] as const
export type Build = (typeof BUILDS)[number]

export const loadCrypto = (build: Build): Promise<typeof Crypto> => CRYPTO[build]()

/** Loads the webhook entry point with one build of the cryptography. */
export async function loadWebhook(build: Build): Promise<Webhook> {
  vi.resetModules()
  vi.doMock('#crypto', CRYPTO[build])
  try {
    return await import('campaign-client/webhook')
  } finally {
    vi.doUnmock('#crypto')
  }
}

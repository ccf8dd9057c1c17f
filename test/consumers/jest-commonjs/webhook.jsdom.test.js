/**
 * jsdom resolves the files for browsers, so this test uses the portable HMAC.
 *
 * @jest-environment jsdom
 */
const { TextDecoder, TextEncoder } = require('node:util')

// Browsers have these classes. jsdom does not.
Object.assign(globalThis, { TextDecoder, TextEncoder })
const { createHmac } = require('node:crypto')
const { signWebhook, verifyWebhook } = require('campaign-client/webhook')

test('computes the same signature as node:crypto', () => {
  const body = '{"id":"1","user":"\u00e4\u{1f600}"}'
  const signature = createHmac('sha256', 'secret').update(body).digest('hex')
  expect(signWebhook('secret', body)).toBe(signature)
  expect(verifyWebhook('secret', body, signature)).toBe(true)
  expect(verifyWebhook('other', body, signature)).toBe(false)
})

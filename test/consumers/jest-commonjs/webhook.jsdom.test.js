/**
 * jsdom resolves for browsers, so that the HMAC is the portable one.
 *
 * @jest-environment jsdom
 */
const { TextDecoder, TextEncoder } = require('node:util')

// jsdom has neither, as every browser does.
Object.assign(globalThis, { TextDecoder, TextEncoder })
const { createHmac } = require('node:crypto')
const { signWebhook, verifyWebhook } = require('campaign-client/webhook')

test('agrees with node:crypto under jsdom', () => {
  const body = '{"id":"1","user":"\u00e4\u{1f600}"}'
  const signature = createHmac('sha256', 'secret').update(body).digest('hex')
  expect(signWebhook('secret', body)).toBe(signature)
  expect(verifyWebhook('secret', body, signature)).toBe(true)
  expect(verifyWebhook('other', body, signature)).toBe(false)
})

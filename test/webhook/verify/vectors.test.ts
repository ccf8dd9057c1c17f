import { describe, expect, test } from 'vitest'
import webhookVectors from '../../../docs/webhook-vectors.json' with { type: 'json' }
import { BUILDS, loadCrypto, loadWebhook } from '../builds.ts'

const bytes = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, 'hex'))

/** RFC 4231, section 4. Case 5 publishes the first 128 bits only. */
const RFC_4231 = [
  {
    name: 'test case 1',
    key: bytes('0b'.repeat(20)),
    data: 'Hi There',
    digest: 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
  },
  {
    name: 'test case 2, a key shorter than the digest',
    key: 'Jefe',
    data: 'what do ya want for nothing?',
    digest: '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  },
  {
    name: 'test case 3',
    key: bytes('aa'.repeat(20)),
    data: bytes('dd'.repeat(50)),
    digest: '773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe',
  },
  {
    name: 'test case 4',
    key: bytes('0102030405060708090a0b0c0d0e0f10111213141516171819'),
    data: bytes('cd'.repeat(50)),
    digest: '82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b',
  },
  {
    name: 'test case 5, truncated',
    key: bytes('0c'.repeat(20)),
    data: 'Test With Truncation',
    digest: 'a3b6167473100ee06e0c796c2955552b',
  },
  {
    name: 'test case 6, a key longer than a block',
    key: bytes('aa'.repeat(131)),
    data: 'Test Using Larger Than Block-Size Key - Hash Key First',
    digest: '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
  },
  {
    name: 'test case 7, key and data longer than a block',
    key: bytes('aa'.repeat(131)),
    data:
      'This is a test using a larger than block-size key and a larger than block-size data. The key needs to be ' +
      'hashed before being used by the HMAC algorithm.',
    digest: '9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2',
  },
]

describe.each(BUILDS)('published vectors, %s build', (build) => {
  test.each(RFC_4231)('RFC 4231 $name', async ({ key, data, digest }) => {
    const { hmacSha256Hex } = await loadCrypto(build)
    const hex = hmacSha256Hex(key, data)
    expect(hex).toHaveLength(64)
    expect(hex.slice(0, digest.length)).toBe(digest)
  })

  test.each(webhookVectors.vectors)('docs/webhook-vectors.json: $name', async (vector) => {
    const { verifyWebhook } = await loadWebhook(build)
    const body = Buffer.from(vector.bodyBase64, 'base64')
    if (vector.secret === '') expect(() => verifyWebhook('', body, vector.signatures)).toThrow(TypeError)
    else expect(verifyWebhook(vector.secret, body, vector.signatures)).toBe(vector.accepted)
  })
})

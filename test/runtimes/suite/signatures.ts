import { signWebhook, verifyWebhook } from 'campaign-client/webhook'
import webhookVectors from '../../../docs/webhook-vectors.json' with { type: 'json' }
import { equal, instance, thrown } from './assertions.ts'
import type { Behaviour } from './behaviour.ts'
import { activity, bytesOf, fromHex, signatureOf } from './messages.ts'
import { SECRET } from './secrets.ts'

/** RFC 4231, section 4. Case 5 publishes the first 128 bits only. */
const RFC_4231: readonly (readonly [key: Uint8Array, data: string | Uint8Array, digest: string])[] = [
  [fromHex('0b'.repeat(20)), 'Hi There', 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
  [bytesOf('Jefe'), 'what do ya want for nothing?', '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'],
  [
    fromHex('aa'.repeat(20)),
    fromHex('dd'.repeat(50)),
    '773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe',
  ],
  [
    fromHex('0102030405060708090a0b0c0d0e0f10111213141516171819'),
    fromHex('cd'.repeat(50)),
    '82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b',
  ],
  [fromHex('0c'.repeat(20)), 'Test With Truncation', 'a3b6167473100ee06e0c796c2955552b'],
  [
    fromHex('aa'.repeat(131)),
    'Test Using Larger Than Block-Size Key - Hash Key First',
    '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
  ],
  [
    fromHex('aa'.repeat(131)),
    'This is a test using a larger than block-size key and a larger than block-size data. The key needs to be ' +
      'hashed before being used by the HMAC algorithm.',
    '9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2',
  ],
]

/** Lengths around the block size and the padding of SHA-256, around the chunk sizes of runtimes, and larger lengths. */
const LENGTHS = [0, 1, 31, 32, 55, 56, 63, 64, 65, 119, 128, 1000, 16_383, 16_384, 16_385, 49_152, 300_000]

export const signatures: readonly Behaviour[] = [
  {
    name: 'computes the vectors of RFC 4231',
    run() {
      for (const [index, [key, data, digest]] of RFC_4231.entries()) {
        equal(signWebhook(key, data).slice(0, digest.length), digest, `test case ${index + 1}`)
        if (digest.length === 64) equal(verifyWebhook(key, data, digest), true, `test case ${index + 1}`)
      }
    },
  },
  {
    name: 'computes the same signature as WebCrypto for keys and bodies of many lengths',
    async run() {
      const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 2_654_435_761) >>> 24)
      for (const keyLength of [1, 32, 63, 64, 65, 200]) {
        for (const length of LENGTHS) {
          const [key, body] = [bytes.slice(7, 7 + keyLength), bytes.slice(0, length)]
          equal(signWebhook(key, body), await signatureOf(key, body), `${keyLength} and ${length} bytes`)
        }
      }
      for (const text of [activity('m-1'), '', '\u{feff}{}', '👩‍💻'.repeat(4000), 'é'.repeat(16_384)]) {
        equal(signWebhook(`${SECRET} ключ`, text), await signatureOf(`${SECRET} ключ`, text), text.slice(0, 20))
      }
    },
  },
  {
    name: 'agrees with docs/webhook-vectors.json',
    run() {
      for (const { name, secret, bodyBase64, signatures, accepted } of webhookVectors.vectors) {
        const body = Uint8Array.from(atob(bodyBase64), (char) => char.charCodeAt(0))
        const verify = () => verifyWebhook(secret, body, signatures)
        if (secret === '') instance(thrown(verify), TypeError)
        else equal(verify(), accepted, name)
      }
    },
  },
  {
    name: 'accepts the body as text, bytes, part of a buffer or ArrayBuffer',
    run() {
      const body = activity('m-1')
      const signature = signWebhook(SECRET, body)
      const bytes = bytesOf(body)
      const buffer = new Uint8Array(bytes.length + 8)
      buffer.set(bytes, 3)
      equal(verifyWebhook(SECRET, bytes, signature), true, 'bytes')
      equal(verifyWebhook(SECRET, buffer.subarray(3, 3 + bytes.length), signature), true, 'a part of a buffer')
      equal(verifyWebhook(SECRET, bytes.buffer, signature), true, 'an ArrayBuffer')
      equal(verifyWebhook(bytesOf(SECRET), bytes, signature), true, 'a secret of bytes')
    },
  },
]

import { signWebhook, verifyWebhook } from 'campaign-client/webhook'
import webhookVectors from '../../../docs/webhook-vectors.json' with { type: 'json' }
import { equal, instance, thrown } from './assertions.ts'
import type { Behaviour } from './behaviour.ts'
import { activity, bytesOf, signatureOf } from './messages.ts'
import { SECRET } from './secrets.ts'

/** Lengths around the block size and the padding of SHA-256, around the chunk sizes of runtimes, and larger lengths. */
const LENGTHS = [0, 1, 31, 32, 55, 56, 63, 64, 65, 119, 128, 1000, 16_383, 16_384, 16_385, 49_152, 300_000]

/** Unit tests hold the rest, with both builds of the cryptography. */
export const signatures: readonly Behaviour[] = [
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

import { parseWebhook, safeParseWebhook, signWebhook, WebhookError } from 'campaign-client/webhook'
import { instance, matches, thrown } from './assertions.ts'
import type { Behaviour } from './behaviour.ts'
import { activity, bytesOf } from './messages.ts'
import { SECRET } from './secrets.ts'

const REFUSED: readonly (readonly [code: string, status: number, body: string | Uint8Array, signature?: string])[] = [
  ['missing_signature', 401, activity('m-1'), ''],
  ['malformed_signature', 401, activity('m-1'), 'no digits'],
  ['signature_mismatch', 401, activity('m-1'), 'a'.repeat(64)],
  ['invalid_utf8', 400, Uint8Array.of(0x7b, 0xff, 0x7d)],
  ['invalid_json', 400, '{"id": '],
  ['missing_id', 400, '{"id": ""}'],
]

/** Parsing and diagnosis of messages. */
export const events: readonly Behaviour[] = [
  {
    name: 'parses a message into an event',
    run() {
      const parse = (body: string | Uint8Array) => parseWebhook(SECRET, body, signWebhook(SECRET, body))
      const action = parse(bytesOf(activity('m-1')))
      matches(action, { kind: 'action_completed', id: 'm-1', payload: { user: 'Ада 🚀', event: { data: { xp: 10 } } } })
      matches(parse(activity('m-2', { scope: 'user_login' })), { kind: 'unknown', id: 'm-2', scope: 'user_login' })
      matches(parse('{"id":"m-3","__proto__":{"admin":true}}'), { kind: 'unknown', payload: { id: 'm-3' } })
      matches(parse(`\u{feff}${activity('m-4')}`), { kind: 'action_completed', id: 'm-4' })
    },
  },
  ...REFUSED.map(
    ([code, status, body, signature]): Behaviour => ({
      name: `refuses a message: ${code}`,
      run() {
        const header = signature ?? signWebhook(SECRET, body)
        const error = instance(
          thrown(() => parseWebhook(SECRET, body, header)),
          WebhookError,
        )
        matches(error, { name: 'WebhookError', code, status })
        matches(safeParseWebhook(SECRET, body, header), { ok: false, reason: code })
      },
    }),
  ),
]

import type { WebhookErrorCode } from '../errors/campaign-error.ts'
import { WebhookError } from '../errors/webhook-errors.ts'
import {
  type ActionCompletedActivity,
  type QuestCompletedActivity,
  readUserActivity,
  type UserActivity,
} from '../schemas/read-user-activity.ts'
import type { Issue } from '../shared/issue.ts'
import { parseJson } from '../shared/text.ts'
import { isRecord } from '../shared/type-checks.ts'
import { checkSignature, type RawBody, type SignatureHeader, toRawBody, type WebhookSecret } from './signature.ts'

interface EventBase {
  /** Unique ID of this message: the same in each delivery attempt and for each URL of the webhook. */
  id: string
  /**
   * Each documented field that is missing or does not have its documented type, without its value. Empty for a message as
   * documented, and for a message of an undocumented scope or type. A receiver passes the issues to `onError`.
   */
  issues: readonly Issue[]
}

/** A user completed a task. */
export interface ActionCompletedEvent extends EventBase {
  /** Identifies the type of the event. */
  kind: 'action_completed'
  /** `scope` of the message. */
  scope: 'user_activity'
  /** `event.type` of the message. */
  type: 'action_completed'
  /** The message. */
  payload: UserActivity<ActionCompletedActivity>
}

/** A user completed a quest. */
export interface QuestCompletedEvent extends EventBase {
  /** Identifies the type of the event. */
  kind: 'quest_completed'
  /** `scope` of the message. */
  scope: 'user_activity'
  /** `event.type` of the message. */
  type: 'quest_completed'
  /** The message. */
  payload: UserActivity<QuestCompletedActivity>
}

/**
 * A message whose scope or type is not documented (such as login, reward and referral), or which lacks a required field. If a
 * field is missing, `issues` lists it. Its signature is verified too.
 */
export interface UnknownEvent extends EventBase {
  /** Identifies the type of the event. */
  kind: 'unknown'
  /** `scope` of the message, if that is a string. */
  scope?: string
  /** `event.type` of the message, if that is a string. */
  type?: string
  /** The whole message as it came. Its fields are not checked. */
  payload: Record<string, unknown>
}

/**
 * A verified message. This package adds `kind`: `switch (event.kind)` narrows `payload`. A message of a future type has the
 * kind `unknown`.
 *
 * See "Message" in docs/the-service.md.
 */
export type WebhookEvent = ActionCompletedEvent | QuestCompletedEvent | UnknownEvent

/** The result of {@link safeParseWebhook}. */
export type WebhookResult =
  | {
      /** The signature is valid, and the message has an `id`. */
      ok: true
      /** The message. */
      event: WebhookEvent
      /** The index of the secret that signed the message. While you replace a secret, it shows which secret is in use. */
      secretIndex: number
    }
  | { ok: false; reason: WebhookErrorCode }

/** The maximum nesting depth of a message. In a deeper message, recursive functions could overflow the stack. */
const MAX_JSON_DEPTH = 1000

/**
 * Verifies a message, then parses it and returns it as a typed event.
 *
 * A signed message is refused only when it is not UTF-8, not JSON (of at most 1 000 levels) or has no `id`. `event.issues`
 * lists the documented fields that are missing or of another type. A message without a required field has the kind
 * `unknown`. Undocumented fields are kept. `__proto__` is removed, because copying it would replace a prototype. A byte order
 * mark is part of the signed bytes and is not parsed.
 *
 * See "Signature" and "Message" in docs/the-service.md.
 *
 * @param secret - as for `verifyWebhook`
 * @param rawBody - as for `verifyWebhook`
 * @param header - as for `verifyWebhook`
 * @throws WebhookError when the message must not be handled; respond with its `status`
 * @throws TypeError when the secret is unusable
 *
 * @example
 * ```ts
 * const header = request.headers.get('x-service-signature')
 * const event = parseWebhook(secret, await request.arrayBuffer(), header)
 * if (event.kind === 'action_completed') console.log(event.payload.user)
 * ```
 */
export function parseWebhook(secret: WebhookSecret, rawBody: RawBody, header: SignatureHeader): WebhookEvent {
  const result = safeParseWebhook(secret, rawBody, header)
  if (!result.ok) throw new WebhookError(result.reason)
  return result.event
}

/**
 * Verifies a message like `parseWebhook`, and returns a refusal instead of throwing it.
 *
 * See "Signature" and "Message" in docs/the-service.md.
 *
 * @param secret - as for `verifyWebhook`
 * @param rawBody - as for `verifyWebhook`
 * @param header - as for `verifyWebhook`
 * @throws TypeError when the secret is unusable
 *
 * @example
 * ```ts
 * const result = safeParseWebhook(secret, rawBody, request.headers.get('x-service-signature'))
 * if (!result.ok) return new Response(null, { status: 401 })
 * await handle(result.event)
 * ```
 */
export function safeParseWebhook(secret: WebhookSecret, rawBody: RawBody, header: SignatureHeader): WebhookResult {
  const checked = checkSignature(secret, rawBody, header)
  if (!checked.ok) return checked
  const decoded = decodeMessage(checked.body)
  return decoded.ok ? { ...decoded, secretIndex: checked.secretIndex } : decoded
}

/**
 * Parses a message that was verified before, for instance from a queue or a list of kept messages. It trusts the bytes: it checks no
 * signature. Use `parseWebhook` for the body of a request.
 *
 * See "Message" in docs/the-service.md.
 *
 * @param rawBody - as for `verifyWebhook`
 * @returns the event, as `parseWebhook` returns it
 * @throws WebhookError when the body is not raw, or is not the JSON text of a message
 *
 * @example
 * ```ts
 * for await (const { rawBody } of receiver.failed()) {
 *   const event = parseWebhookBody(rawBody)
 *   if (event.kind === 'action_completed') console.log(event.payload.user)
 * }
 * ```
 */
export function parseWebhookBody(rawBody: RawBody): WebhookEvent {
  const body = toRawBody(rawBody)
  if (body === undefined) throw new WebhookError('body_not_raw')
  const decoded = decodeMessage(body)
  if (!decoded.ok) throw new WebhookError(decoded.reason)
  return decoded.event
}

/** Decodes a verified body. */
export function decodeMessage(
  body: string | Uint8Array,
): { ok: true; event: WebhookEvent } | { ok: false; reason: 'invalid_utf8' | 'invalid_json' | 'missing_id' } {
  const text = toText(body)
  if (text === undefined) return { ok: false, reason: 'invalid_utf8' }
  let payload: unknown
  try {
    payload = parseJson(text, MAX_JSON_DEPTH)
  } catch {
    return { ok: false, reason: 'invalid_json' }
  }
  return hasId(payload) ? { ok: true, event: toEvent(payload) } : { ok: false, reason: 'missing_id' }
}

let utf8: InstanceType<typeof TextDecoder> | undefined

/** Returns the text of a body without its byte order mark, or `undefined` when it is not valid Unicode. */
function toText(body: string | Uint8Array): string | undefined {
  if (typeof body === 'string') {
    // A lone surrogate was hashed as U+FFFD, so the signature belongs to another text.
    if (!body.isWellFormed()) return undefined
    return body.charCodeAt(0) === 0xfeff ? body.slice(1) : body
  }
  // Created at the first message: the import must work where the class is missing, as in jsdom.
  utf8 ??= new TextDecoder('utf-8', { fatal: true })
  try {
    return utf8.decode(body)
  } catch {
    return undefined
  }
}

const hasId = (payload: unknown): payload is Record<string, unknown> & { id: string } =>
  isRecord(payload) && typeof payload.id === 'string' && payload.id !== ''

/**
 * Marks events whose message has the three fields of a Test message. It is set from the message, because the payload omits null
 * fields. Every copy of the package in a process uses the same symbol.
 */
const TEST_MESSAGE = Symbol.for('campaign-client.test-message')

/** Returns a message as an event. Never throws. */
function toEvent(message: Record<string, unknown> & { id: string }): WebhookEvent {
  const { scope, type, activity, issues } = readUserActivity(message)
  const { id } = message
  if (activity === undefined) {
    return {
      kind: 'unknown',
      id,
      ...(scope !== undefined && { scope }),
      ...(type !== undefined && { type }),
      payload: message,
      issues,
    }
  }
  const kind = activity.event.type
  // TypeScript can't narrow `activity` by a discriminant two levels down.
  const event = { kind, id, scope: activity.scope, type: kind, payload: activity, issues } as WebhookEvent
  // Not enumerable, so that events can be compared and logged.
  if (kind === 'action_completed' && hasTestFields(message)) Object.defineProperty(event, TEST_MESSAGE, { value: true })
  return event
}

/**
 * Returns whether an event looks like the message of the admin panel's Test button: whether it is an `action_completed` with
 * `user_id`, `event.data.account` and `event.data.action.meta`. The API description shows these fields only in the Test message.
 * Assumed: no other message has all three.
 *
 * Pass the event itself: a copy by JSON lacks fields that were null in the message.
 *
 * Log such a message. Do not skip it in a campaign with real users, because a real message might have the fields too.
 *
 * See "Test tool" in docs/the-service.md.
 *
 * @example
 * ```ts
 * if (isTestMessage(event)) console.log('Test message', event.id)
 * ```
 */
export function isTestMessage(event: WebhookEvent): boolean {
  return Object.hasOwn(event, TEST_MESSAGE) || (event.kind === 'action_completed' && hasTestFields(event.payload))
}

function hasTestFields(message: Readonly<Record<string, unknown>>): boolean {
  const data = isRecord(message.event) ? message.event.data : undefined
  const action = isRecord(data) ? data.action : undefined
  return [
    [message, 'user_id'],
    [data, 'account'],
    [action, 'meta'],
  ].every(([object, name]) => isRecord(object) && Object.hasOwn(object, name as string))
}

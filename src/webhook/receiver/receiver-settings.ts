import { DELIVERY_SPAN_MS, LAST_DELIVERY_DELAY_MS } from '../../shared/delivery-schedule.ts'
import {
  hasMethods,
  isFunction,
  isText,
  type OptionRule,
  type OptionRules,
  optional,
  positive,
  readOptions,
  wholeNumber,
  within,
} from '../../shared/option-checks.ts'
import { memoryStore } from '../stores/memory-store.ts'
import { secretProblem } from '../verify/secret.ts'
import type { WebhookReceiverOptions } from './webhook-receiver-options.ts'

type Hooks = 'onReject' | 'onError' | 'onHandled'

type Defaulted = Exclude<keyof WebhookReceiverOptions, Hooks>

/** The options with every default filled in. */
export type ReceiverSettings = { [Name in Defaulted]-?: Exclude<WebhookReceiverOptions[Name], undefined> } & Pick<
  WebhookReceiverOptions,
  Hooks
>

/** A claim must end before the last retry. 5 s are the margin for slow networks and inexact clocks. */
const MAX_CLAIM_MS = LAST_DELIVERY_DELAY_MS - 5000
const WEEK_MS = 604_800_000

const isEndpoint: OptionRule = (value) => {
  const problem = isText(value)
  return problem && `${problem}: your name for this endpoint (for instance its path)`
}

const isSecret: OptionRule = (value) => {
  if (typeof value === 'function') return undefined
  if (value === undefined || value === null) {
    return 'is missing: pass a secret, a list of secrets, or a function that returns one (is the environment variable set?)'
  }
  return secretProblem(value)
}

const isStore: OptionRule = (value) => {
  const problem = hasMethods('claim', 'extend', 'complete', 'release')(value)
  return problem && `${problem}; pass memoryStore(), redisStore(client), postgresStore(pool) or your own DeliveryStore`
}

const rules = (): OptionRules<WebhookReceiverOptions> => ({
  endpoint: isEndpoint,
  secret: isSecret,
  handle: isFunction,
  store: optional(isStore),
  maxBodyBytes: optional(wholeNumber(1)),
  deadlineMs: optional(positive('milliseconds', DELIVERY_SPAN_MS)),
  leaseMs: optional(positive('milliseconds', MAX_CLAIM_MS)),
  maxRunMs: optional(positive('milliseconds', MAX_CLAIM_MS)),
  retainMs: optional(within('milliseconds', DELIVERY_SPAN_MS, Number.MAX_SAFE_INTEGER)),
  onReject: optional(isFunction),
  onError: optional(isFunction),
  onHandled: optional(isFunction),
})

/**
 * Checks the options, and fills in the defaults.
 *
 * @throws TypeError when an option is missing, misspelt or of the wrong type
 * @throws RangeError when a number is out of its range
 */
export function receiverSettings(given: WebhookReceiverOptions): ReceiverSettings {
  const options = readOptions('createWebhookReceiver', given, rules())
  const settings: ReceiverSettings = {
    ...options,
    store: options.store ?? memoryStore(),
    maxBodyBytes: options.maxBodyBytes ?? 262_144,
    deadlineMs: options.deadlineMs ?? 10_000,
    leaseMs: options.leaseMs ?? 30_000,
    maxRunMs: options.maxRunMs ?? 240_000,
    retainMs: options.retainMs ?? WEEK_MS,
  }
  const { leaseMs, maxRunMs } = settings
  if (maxRunMs + leaseMs > MAX_CLAIM_MS) {
    throw new RangeError(
      `createWebhookReceiver: maxRunMs + leaseMs must be at most ${MAX_CLAIM_MS}, got ${maxRunMs} + ${leaseMs} = ${maxRunMs + leaseMs}. ` +
        `The last retry of the service comes ${LAST_DELIVERY_DELAY_MS / 1000} s after the previous retry, and fails while an earlier claim exists.`,
    )
  }
  return settings
}

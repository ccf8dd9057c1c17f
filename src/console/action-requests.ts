import * as z from 'zod/mini'
import { endpoints } from '../endpoints/index.ts'
import { faultFields } from '../testing/faults/fault-options.ts'
import { DELIVERY_FAULT_KINDS, FAULT_KINDS } from './fault-kinds.ts'

/** A string with a description, which the OpenAPI document shows. */
const text = (description: string) => z.string().check(z.describe(description))

const namesOf = <Name extends string>(table: Readonly<Record<Name, unknown>>) => Object.keys(table) as Name[]

const OPERATIONS = namesOf(endpoints)
const DELIVERY_FAULTS = namesOf(DELIVERY_FAULT_KINDS)
const KINDS_OF_FAULTS = namesOf({ ...FAULT_KINDS, ...DELIVERY_FAULT_KINDS })

/** An account has one entry for each campaign and platform that it takes part in. */
const pid = z.optional(text('Campaign ID. Optional if the account has only one entry.'))
const platform = z.optional(text('Platform of the account. Optional if the account has only one entry.'))
const userId = z.string().check(z.trim(), z.minLength(1, 'Enter a user ID.'), z.describe('Account of the user.'))

const hookId = text('ID of the webhook.')

/** Fields of an action, and what it does. Unknown fields are refused. */
const action = <Fields extends Readonly<Record<string, z.ZodMiniType>>>(description: string, fields: Fields) =>
  z.strictObject(fields).check(z.describe(description))

/**
 * The requests of the actions under `/control/`, which the buttons of the page use as well, by the name of the action. Forms
 * show the messages at their fields.
 */
export const CONTROL_REQUESTS = {
  addFault: action('Injects a fault into requests or webhook deliveries.', {
    on: z.optional(
      z
        .enum(['*', 'delivery', ...OPERATIONS])
        .check(
          z.describe(
            "Name of the client's method, `*` for any request, or `delivery` for webhook messages. Default: `*`.",
          ),
        ),
    ),
    kind: z
      .enum(KINDS_OF_FAULTS)
      .check(z.describe(`Kind of the fault. On \`delivery\`: ${DELIVERY_FAULTS.join(', ')}.`)),
    times: z.optional(
      z
        .nullable(faultFields.times)
        .check(z.describe('How many requests or delivery attempts fail; `null` for all. Default: 1.')),
    ),
    status: z.optional(faultFields.status.check(z.describe('Kind `status`: the HTTP status. Default: 500.'))),
    headers: z.optional(faultFields.headers.check(z.describe('Kind `status`: headers of the response.'))),
    body: z.optional(
      z.unknown().check(z.describe('Kinds `status` and `garbage`: the body; a string is sent unchanged.')),
    ),
    applied: z.optional(
      faultFields.applied.check(
        z.describe('Kinds `status`, `garbage`, `reset` and `hang`: whether the call takes effect. Default: false.'),
      ),
    ),
    delayMs: z.optional(
      faultFields.delayMs.check(z.describe('Kinds `delay` and `drip`: the time in milliseconds. Default: 100.')),
    ),
    scope: z.optional(text('On `delivery`: only messages of this scope.')),
    type: z.optional(text('On `delivery`: only messages whose event has this type.')),
    field: z.optional(text('Kind `missing_field`: path of the field to leave out, for example `event.data.xp`.')),
  }),
  cancelFault: action('Switches a fault off.', { key: text('The `key` that `addFault` returned.') }),
  completeTask: action('Completes a task for a user, with the XP and messages that follow.', {
    account: userId,
    platform,
    pid,
    aid: text('Task ID.'),
  }),
  emit: action('Sends a message to the webhooks, without changing XP or progress.', {
    kind: z
      .enum(['action_completed', 'quest_completed', 'custom'])
      .check(z.describe('Type of the event; `custom` sends your own payload.')),
    account: z.optional(userId),
    platform,
    pid: z.optional(
      text(
        'Campaign ID. Optional if the account has only one entry; kind `custom`: without it, no webhook that is ' +
          'limited to some campaigns gets the message.',
      ),
    ),
    aid: z.optional(
      z.string().check(z.minLength(1, 'Enter the ID of a task.'), z.describe('Kind `action_completed`: task ID.')),
    ),
    cid: z.optional(
      z.string().check(z.minLength(1, 'Enter the ID of a quest.'), z.describe('Kind `quest_completed`: quest ID.')),
    ),
    xp: z.optional(
      z.number().check(z.describe('XP in the event. Default: the XP of the task or quest for this user.')),
    ),
    payload: z.optional(
      z
        .record(z.string(), z.unknown())
        .check(z.describe('Kind `custom`: the payload. A missing `id` or `scope` is added.')),
    ),
    scope: z.optional(
      text("Kind `custom`: scope of the webhooks. Default: the payload's `scope`, or `user_activity`."),
    ),
    hook_id: z.optional(
      text('Kind `custom`: ID of the only webhook that gets the message. Default: all with the scope and campaign.'),
    ),
  }),
  saveWebhook: action('Adds or changes a webhook.', {
    hook_id: z.optional(
      z
        .string()
        .check(
          z.trim(),
          z.describe('ID of the webhook: it is changed, or added. Default: a new webhook with a generated ID.'),
        ),
    ),
    urls: z
      .array(z.string())
      .check(z.minLength(1, 'Enter the URL of your webhook.'), z.describe('URLs. Each gets the same messages.')),
    scope: z.optional(
      z
        .string()
        .check(
          z.trim(),
          z.minLength(1, 'Enter the scope of the messages, for example user_activity.'),
          z.describe('Scope of the messages. Default: unchanged; `user_activity` for a new webhook.'),
        ),
    ),
    secret: z.optional(
      text(
        'Secret that signs the messages; empty: messages are not signed. Default: unchanged; for a new webhook ' +
          'the environment variable CAMPAIGN_WEBHOOK_SECRET of `dev`.',
      ),
    ),
    campaigns: z.optional(
      z
        .array(z.string())
        .check(z.describe('IDs of the campaigns; empty: all campaigns. Default: unchanged; all for a new webhook.')),
    ),
  }),
  removeWebhook: action('Removes a webhook and drops its pending deliveries.', { hook_id: hookId }),
  testWebhook: action("Sends the message of the admin panel's Test tool once.", {
    account: userId,
    platform,
    pid,
    hook_id: z.optional(text('ID of the webhook. Default: the first webhook.')),
    url: z.optional(text('A URL of the webhook. Default: its first URL.')),
  }),
  redeliver: action('Sends the message of a delivery again, with the same ID.', {
    key: text('`deliveryId` of one of the deliveries.'),
  }),
  advance: action('Moves the clock forward. Retries that become due are sent.', {
    ms: z.number().check(z.describe('Milliseconds, at least 0.')),
  }),
  advanceToNextRetry: action('Moves the clock to the next scheduled attempt.', {}),
  resetClock: action('Sets the clock back to the time of the machine.', {}),
  loadSeed: action(
    'Replaces the whole state with a seed. Removes requests, deliveries and faults, and resets the clock.',
    {
      seed: z.unknown().check(z.describe('A seed, as `GET /control/state` returns it.')),
    },
  ),
  reset: action(
    'Returns to the state at the start. Removes requests, deliveries, faults and webhooks that were added, and resets ' +
      'the clock.',
    {},
  ),
}

const list = z.enum(['requests', 'deliveries'])

/** The requests of the actions that only the page uses. */
const PAGE_REQUESTS = {
  /** Describes the methods of the client. */
  listMethods: z.object({}),
  /** Calls a method of the service over HTTP. */
  callMethod: z.object({ name: z.enum(OPERATIONS), given: z.record(z.string(), z.unknown()) }),
  listUsers: z.object({ pid: z.string(), find: z.string(), limit: z.int().check(z.gte(1)) }),
  readUser: z.object({ pid: z.string(), account: z.string(), platform: z.string() }),
  readRequest: z.object({ key: z.string() }),
  readDelivery: z.object({ key: z.string() }),
  /** Finds the rows whose bodies contain words. */
  findInBodies: z.object({ list, words: z.array(z.string()) }),
  /** Removes rows of a list of the page, except for deliveries that are not finished. The service's records stay. */
  clearRows: z.object({ list, keys: z.array(z.string()) }),
  /** Undoes the latest `clearRows` of a list. */
  restoreRows: z.object({ list }),
}

/** The schema of each action's request, by the name of the action. */
export const ACTION_REQUESTS = { ...CONTROL_REQUESTS, ...PAGE_REQUESTS }

export type ActionName = keyof typeof ACTION_REQUESTS
export type ActionRequest<Name extends ActionName> = z.infer<(typeof ACTION_REQUESTS)[Name]>

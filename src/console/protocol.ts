import type { FaultKind } from 'campaign-client/testing'

/** What the page and its server send each other. Both are built and shipped together, so there is no version. */

/** A task, quest or challenge of a campaign. */
export interface ItemView {
  readonly id: string
  readonly name: string
  readonly kind: 'task' | 'quest' | 'challenge'
  readonly xp: number
  /** IDs of the items that must be completed before. */
  readonly deps: readonly string[]
  /** Of a quest: IDs of its tasks. */
  readonly actions?: readonly string[]
  /** Of a task: whether it counts every time. */
  readonly recurring?: boolean
  readonly optional?: boolean
}

export interface CampaignView {
  readonly pid: string
  readonly name: string
  readonly items: readonly ItemView[]
  readonly users: number
  readonly points: number
}

/** A user in the list of a campaign. */
export interface UserRow {
  readonly pid: string
  readonly account: string
  readonly platform: string
  readonly name: string
  readonly team: string
  readonly total: number
  readonly rank: number
  /** Whether other users have the same rank. */
  readonly isTied: boolean
  readonly completedTasks: number
}

export interface UserList {
  readonly users: readonly UserRow[]
  /** Number of users that match the filter. */
  readonly found: number
}

/** A user with everything that the service holds. */
export interface UserView extends UserRow {
  readonly alias: string
  readonly wallet: string
  readonly email: string
  readonly xp: number
  readonly ref_xp: number
  readonly ugc_xp: number
  readonly xp_mul: number
  readonly profiles: readonly { readonly account: string; readonly platform: string }[]
  readonly completed: readonly string[]
  readonly rewards: readonly { readonly id: string; readonly reward: string; readonly type: string }[]
  readonly referrer?: string
  readonly ref_id: string
}

/** A row of the requests: a call to the service, or a task that was completed in the console. */
export interface RequestRow {
  /** Number of the request; `console-` and a number for an action of the console. */
  readonly key: string
  /** When it arrived, in milliseconds since the epoch. */
  readonly at: number
  readonly isFromConsole?: boolean
  readonly method: string
  readonly path: string
  readonly operation?: string
  /** The account, address or code it is about, and the campaign. */
  readonly subject: string
  readonly pid: string
  readonly status?: number
  readonly reason?: string
  readonly fault?: FaultKind
  /** Milliseconds from its arrival to the end of its answer; absent while it is open. */
  readonly durationMs?: number
  /** The text that the filter searches, in lower case. */
  readonly text: string
}

/** The body of a request or an answer, as far as it is kept. */
export interface BodyView {
  readonly text: string
  /** Size of the whole body. The text is shorter when it was cut. */
  readonly bytes: number
  readonly isCut: boolean
}

/** A request with everything that is kept of it. */
export interface RequestView extends RequestRow {
  /** Whether headers and bodies were dropped to limit memory. */
  readonly isDropped: boolean
  readonly query: Readonly<Record<string, readonly string[]>>
  readonly headers: Readonly<Record<string, string>>
  readonly body?: BodyView
  readonly authorized: boolean
  readonly handled: boolean
  readonly answer?: { readonly headers: Readonly<Record<string, string>>; readonly body: BodyView }
  /** The request as a shell command; absent when its body was cut. */
  readonly curl?: string
}

export interface WebhookView {
  readonly hook_id: string
  readonly scope: string
  readonly urls: readonly string[]
  readonly signed: boolean
  /** It was signed in the seed it was loaded from, and its secret is not known. */
  readonly isSecretMissing: boolean
  readonly campaigns: readonly string[]
}

export interface AttemptView {
  readonly at: number
  readonly ok: boolean
  readonly status?: number
  readonly answer?: string
  readonly error?: string
}

/** A message on its way to one endpoint. */
export interface DeliveryRow {
  /** One message has several deliveries: one for each endpoint, and one each time it is sent again. */
  readonly key: string
  /** ID of the message. */
  readonly id: string
  /** When it was made, in milliseconds since the epoch. */
  readonly at: number
  readonly isFromConsole?: boolean
  /** Sent by the Test tool, which sends a message once. */
  readonly isTest?: boolean
  /** The delivery whose message this one sends again. */
  readonly redeliveryOf?: string
  readonly hook_id: string
  readonly url: string
  /** Type of the event, as far as the payload tells. */
  readonly type: string
  readonly user: string
  readonly state: 'pending' | 'delivered' | 'undelivered' | 'dropped'
  /** Number of attempts that have ended. */
  readonly attempts: number
  /** HTTP status of the last attempt; absent when the endpoint did not answer. */
  readonly lastStatus?: number
  readonly nextAttemptAt?: number
}

export interface DeliveryView extends DeliveryRow {
  readonly attemptsMade: readonly AttemptView[]
  readonly body: string
  readonly signature?: string
}

export interface FaultView {
  readonly key: string
  readonly kind: FaultKind
  readonly on: string
  /** How many requests are left to meet it; null when it stays on. */
  readonly remaining: number | null
  readonly status?: number
  readonly delayMs?: number
}

export interface ClockView {
  /** How far the service's clock is ahead of the machine's, in milliseconds. */
  readonly aheadMs: number
}

/** Everything that stays the same while the command runs. */
export interface Setup {
  readonly version: string
  readonly operations: readonly string[]
  /** Whether an endpoint that is added without a secret gets the one of the environment. */
  readonly hasSecret: boolean
}

/** What has changed since a revision. A list of rows holds those that are new or changed; other fields are complete. */
export interface Changes {
  /** To be sent with the next question. */
  readonly revision: string
  /** The rows that the page has are gone. */
  readonly isAfresh?: boolean
  readonly setup?: Setup
  readonly requests?: readonly RequestRow[]
  readonly deliveries?: readonly DeliveryRow[]
  readonly webhooks?: readonly WebhookView[]
  readonly faults?: readonly FaultView[]
  readonly campaigns?: readonly CampaignView[]
  /** Rises whenever a user may have changed. */
  readonly usersRevision?: number
  readonly clock: ClockView
}

/** The most rows of requests and of deliveries that are kept, as many as the service remembers. */
export const MAX_ROWS = 10_000

/** The actions of the page, by name. Each is a POST of JSON that is answered with JSON. */
export interface Actions {
  listUsers: (request: { pid: string; find: string; limit: number }) => UserList
  readUser: (request: { pid: string; account: string; platform: string }) => UserView
  readRequest: (request: { key: string }) => RequestView
  readDelivery: (request: { key: string }) => DeliveryView
  completeTask: (request: { pid: string; account: string; platform: string; aid: string }) => null
  saveWebhook: (request: {
    /** Of an endpoint that is changed. */
    hook_id?: string
    /** Of an endpoint that is added. */
    newId?: string
    urls: readonly string[]
    scope: string
    /** Absent: unchanged. Empty: none. */
    secret?: string
    campaigns: readonly string[]
  }) => Omit<WebhookView, 'isSecretMissing'>
  removeWebhook: (request: { hook_id: string }) => null
  testWebhook: (request: { account: string; hook_id?: string }) => TestResult
  emit: (request: { kind: string; pid: string; account: string; item: string }) => { sent: number }
  redeliver: (request: { key: string }) => { key: string }
  addFault: (request: { on: string; kind: string; times: number | null; status?: number; delayMs?: number }) => null
  cancelFault: (request: { key: string }) => null
  advance: (request: { ms?: number; toNextRetry?: boolean }) => null
  resetClock: (request: Record<never, never>) => null
  loadSeed: (request: { seed: unknown }) => { unsigned: readonly string[] }
  reset: (request: Record<never, never>) => null
}

/** The result of the Test tool, under the names the panel shows. */
export interface TestResult {
  readonly Payload: string
  readonly Success: boolean
  readonly Status: number
  readonly Data: string
}

export type ActionName = keyof Actions
export type RequestOfAction<Name extends ActionName> = Parameters<Actions[Name]>[0]
export type AnswerOfAction<Name extends ActionName> = ReturnType<Actions[Name]>

/** The answer to an action: its data, or an error in words, with the field of the form that it belongs to. */
export type ActionAnswer<Name extends ActionName> =
  | { readonly data: AnswerOfAction<Name> }
  | { readonly error: string; readonly field?: string }

/** The paths of the console's own traffic. */
export const PATHS = {
  script: '/console/page.js',
  style: '/console/page.css',
  icon: '/console/icon.svg',
  /** With `?since=` and a revision. */
  changes: '/console/changes',
  seed: '/console/seed.json',
  /** Followed by the name of the action. */
  actions: '/console/do/',
} as const

import type { FaultKind } from 'campaign-client/testing'

/** What the page and its server say to each other. Both are built and shipped together, so it has no version. */

/** A task, quest or challenge of a campaign. */
export interface ItemView {
  readonly id: string
  readonly name: string
  readonly kind: 'task' | 'quest' | 'challenge'
  readonly xp: number
  /** IDs of what has to be completed before. */
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
  readonly completedTasks: number
}

export interface UserList {
  readonly users: readonly UserRow[]
  /** How many there are in all that the search fits. */
  readonly found: number
}

/** A user with everything the service holds. */
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

/** A request in the list. */
export interface RequestRow {
  readonly number: number
  readonly at: number
  readonly method: string
  readonly path: string
  readonly operation?: string
  readonly status?: number
  readonly reason?: string
  readonly fault?: string
}

/** A request with all that is known of it. */
export interface RequestView extends RequestRow {
  readonly query: Readonly<Record<string, readonly string[]>>
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly authorized: boolean
  readonly handled: boolean
  readonly answer?: { readonly headers: Readonly<Record<string, string>>; readonly body: string }
  /** The request as a command for a shell, the token left to its environment. */
  readonly curl: string
}

export interface WebhookView {
  readonly hook_id: string
  readonly scope: string
  readonly urls: readonly string[]
  readonly signed: boolean
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
  /** Its own, since one message goes to several endpoints, and may be sent again. */
  readonly key: string
  /** ID of the message. */
  readonly id: string
  readonly hook_id: string
  readonly url: string
  /** What kind of event it tells of, as far as the payload says. */
  readonly type: string
  readonly user: string
  readonly state: 'pending' | 'delivered' | 'undelivered' | 'dropped'
  readonly attempts: readonly AttemptView[]
  readonly nextAttemptAt?: number
}

export interface DeliveryView extends DeliveryRow {
  readonly body: string
  readonly signature?: string
}

export interface FaultView {
  readonly key: string
  readonly kind: FaultKind
  readonly on: string
  /** How many requests it waits for; null for all to come. */
  readonly remaining: number | null
  readonly status?: number
  readonly delayMs?: number
}

export interface ClockView {
  /** The time of the service when this was said. */
  readonly now: number
  /** How far it is ahead of the machine's. */
  readonly aheadMs: number
  /** When the next retry of a delivery is due. */
  readonly nextRetryAt?: number
}

/** Everything that does not change while the command runs. */
export interface Setup {
  readonly version: string
  readonly operations: readonly string[]
  /** Whether messages to a webhook that is added without a secret are signed. */
  readonly hasSecret: boolean
}

/** What the page is told as it happens. The first one tells everything; each later one replaces what it names. */
export interface Update {
  readonly setup?: Setup
  /** The list begins anew with these. */
  readonly afresh?: boolean
  readonly requests?: readonly RequestRow[]
  readonly deliveries?: readonly DeliveryRow[]
  readonly webhooks?: readonly WebhookView[]
  readonly faults?: readonly FaultView[]
  readonly campaigns?: readonly CampaignView[]
  readonly clock?: ClockView
  /** Rises whenever a user may have changed. */
  readonly usersRevision?: number
}

/** What the page asks for, by name. Each is a POST of JSON that is answered with JSON. */
export interface Actions {
  listUsers: (request: { pid: string; find: string; limit: number }) => UserList
  readUser: (request: { pid: string; account: string; platform: string }) => UserView
  readRequest: (request: { number: number }) => RequestView
  readDelivery: (request: { key: string }) => DeliveryView
  completeTask: (request: { pid: string; account: string; platform: string; aid: string }) => null
  saveWebhook: (request: {
    hook_id?: string
    urls: readonly string[]
    scope: string
    /** Absent: as it was. Empty: none. */
    secret?: string
    campaigns: readonly string[]
  }) => WebhookView
  removeWebhook: (request: { hook_id: string }) => null
  testWebhook: (request: { account: string; hook_id?: string }) => TestResult
  emit: (request: { kind: string; pid: string; account: string; item: string }) => { id: string; sent: number }
  redeliver: (request: { key: string }) => { key: string }
  addFault: (request: { on: string; kind: string; times: number | null; status?: number; delayMs?: number }) => null
  cancelFault: (request: { key: string }) => null
  advance: (request: { ms?: number; toNextRetry?: boolean }) => null
  loadSeed: (request: { seed: unknown }) => null
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

/** The addresses of the console's own traffic. */
export const PATHS = {
  script: '/console/page.js',
  style: '/console/page.css',
  icon: '/console/icon.svg',
  events: '/console/events',
  seed: '/console/seed.json',
  /** Followed by the name of the action. */
  actions: '/console/do/',
} as const

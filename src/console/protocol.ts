import type {
  CampaignService,
  DeliveryRecord,
  EntrySnapshot,
  FaultOptions,
  RequestRecord,
  TestWebhookResult,
  WebhookRecord,
} from 'campaign-client/testing'
import type { ActionName, RequestOfAction } from './action-requests.ts'

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
export interface UserRow extends Pick<EntrySnapshot, 'pid' | 'account' | 'platform' | 'name' | 'team' | 'total'> {
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
export type UserView = UserRow & EntrySnapshot

/** A row of the requests: a call to the service, or a task that was completed in the console. */
export interface RequestRow extends Pick<RequestRecord, 'at' | 'method' | 'path' | 'status' | 'reason' | 'fault'> {
  /** Number of the request; `console-` and a number for an action of the console. */
  readonly key: string
  readonly isFromConsole?: boolean
  readonly operation?: string
  /** The account, address or code it is about. */
  readonly subject: string
  readonly pid: string
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
export interface RequestView extends RequestRow, Pick<RequestRecord, 'query' | 'headers' | 'authorized' | 'handled'> {
  /** Whether headers and bodies were dropped to limit memory. */
  readonly isDropped: boolean
  readonly body?: BodyView
  readonly answer?: { readonly headers: Readonly<Record<string, string>>; readonly body: BodyView }
  /** The request as a shell command; absent when its body was cut. */
  readonly curl?: string
}

/** A message on its way to one endpoint. */
export interface DeliveryRow extends Omit<DeliveryRecord, 'deliveryId' | 'attempts' | 'body' | 'signature'> {
  /** One message has several deliveries: one for each endpoint, and one each time it is sent again. */
  readonly key: string
  readonly isFromConsole?: boolean
  /** Sent by the Test tool, which sends a message once. */
  readonly isTest?: boolean
  /** Type of the event, as far as the payload tells. */
  readonly type: string
  readonly user: string
  /** Number of attempts that have ended. */
  readonly attempts: number
  /** HTTP status of the last attempt; absent when the endpoint did not answer. */
  readonly lastStatus?: number
}

export interface DeliveryView extends DeliveryRow, Pick<DeliveryRecord, 'body' | 'signature'> {
  readonly attemptsMade: DeliveryRecord['attempts']
}

export interface FaultView {
  readonly key: string
  readonly options: FaultOptions
  /** How many requests are left to meet it; null when it stays on. */
  readonly remaining: number | null
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
  readonly webhooks?: readonly WebhookRecord[]
  readonly faults?: readonly FaultView[]
  readonly campaigns?: readonly CampaignView[]
  /** Rises whenever a user may have changed. */
  readonly usersRevision?: number
  /** How many requests and deliveries the service no longer remembers. */
  readonly discarded: CampaignService['discarded']
  /** How far the service's clock is ahead of the machine's, in milliseconds. */
  readonly aheadMs: number
}

/** The most rows of requests and of deliveries that are kept, as many as the service remembers. */
export const MAX_ROWS = 10_000

/** What the page's actions answer. Actions without an entry answer null. */
interface Answers {
  readonly listUsers: UserList
  readonly readUser: UserView
  readonly readRequest: RequestView
  readonly readDelivery: DeliveryView
  readonly saveWebhook: WebhookRecord
  readonly testWebhook: TestWebhookResult
  /** To how many webhooks the event was sent. */
  readonly emit: { readonly sent: number }
  readonly redeliver: { readonly key: string }
  /** IDs of the webhooks whose secret is missing. */
  readonly loadSeed: { readonly unsigned: readonly string[] }
}

export type { ActionName, RequestOfAction }
export type AnswerOfAction<Name extends ActionName> = Name extends keyof Answers ? Answers[Name] : null

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

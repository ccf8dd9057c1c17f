import type { Argument } from '../endpoints/arguments.ts'
import type { OperationName } from '../endpoints/index.ts'
import type { DeliveryFaultKind, FaultOptions } from '../testing/faults/fault-options.ts'
import type { RequestRecord } from '../testing/http/request-log.ts'
import type { EntrySnapshot } from '../testing/state/service-state.ts'
import type { DeliveryAttempt, DeliveryRecord } from '../testing/webhooks/delivery.ts'
import type { TestWebhookResult } from '../testing/webhooks/messages.ts'
import type { WebhookRecord } from '../testing/webhooks/webhook-registry.ts'
import type { ActionName, ActionRequest } from './action-requests.ts'

// The messages between the page and its server. They have no version, because the package contains both.

/** A task, quest or challenge of a campaign. */
export interface ItemView {
  readonly id: string
  readonly name: string
  readonly kind: 'task' | 'quest' | 'challenge'
  readonly xp: number
  /** IDs of the items that must be completed first. */
  readonly deps: readonly string[]
  /** IDs of a quest's tasks. */
  readonly actions?: readonly string[]
  /** Whether a task counts each time it is completed. */
  readonly isRecurring?: boolean
  readonly isOptional?: boolean
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

/** A change of a user's XP or completed items. */
export interface ProgressView {
  readonly key: string
  readonly at: number
  /** XP that were added. */
  readonly xp: number
  /** IDs of the tasks, quests and challenges that were completed. */
  readonly completed: readonly string[]
}

/** A user with all fields of the service. `progress` has the changes since the start, newest first. */
export type UserView = UserRow & EntrySnapshot & { readonly progress: readonly ProgressView[] }

/** What a call or a message is about. */
interface ItemAndXp {
  /** ID of the task, quest or award. */
  readonly item?: string
  /** XP that the call or the message gives. */
  readonly xp?: number
}

type RequestFields = 'at' | 'method' | 'path' | 'status' | 'reason' | 'fault' | 'handled'

/** A row of the requests: a call to the service, or a task that was completed in the console. */
export interface RequestRow extends ItemAndXp, Pick<RequestRecord, RequestFields> {
  /** Number of the request; `console-` and a number for an action of the console. */
  readonly key: string
  readonly isFromConsole?: boolean
  readonly operation?: string
  /** The account, address or code that the request names. */
  readonly subject: string
  /** The user that the request names: an account, with its platform if the request has it, or a wallet address. */
  readonly user?: string
  readonly platform?: string
  /** The second user of a referral: an account on the same platform, or the ID of a referral link. */
  readonly referrer?: string
  readonly ref_id?: string
  readonly pid: string
  /** Milliseconds from the request's arrival to the end of its response; absent before the response ends. */
  readonly durationMs?: number
  /** The text that the filter searches, in lower case. */
  readonly text: string
  /** Number of the attempt, from 2: the same request was sent again soon after a failure. */
  readonly attempt?: number
  /** Key of the first attempt. */
  readonly firstKey?: string
  /** Whether the form of the page sent it. */
  readonly isFromForm?: boolean
}

/** The beginning of a body. */
export interface BodyView {
  readonly text: string
  /** Size of the whole body. */
  readonly bytes: number
  /** Whether `text` is shorter than the body. */
  readonly isCut: boolean
}

/** A request as its details page shows it. */
export interface RequestDetails extends RequestView {
  /** For a refused award: the key of the request that gave the XP of the same award ID, if it is still stored. */
  readonly appliedBy?: string
}

/** A request with its headers and bodies. */
export interface RequestView extends RequestRow, Pick<RequestRecord, 'query' | 'headers'> {
  readonly body?: BodyView
  readonly response?: { readonly headers: Readonly<Record<string, string>>; readonly body: BodyView }
  /** The request as a shell command; absent when its body was cut. */
  readonly curl?: string
  /** The call as code; absent when the client has no method for it, or would refuse its arguments. */
  readonly typescript?: string
  /** The arguments of the method, for the form; absent when they are not one object. */
  readonly given?: Readonly<Record<string, unknown>>
}

/** A method of the client. */
export interface MethodView {
  readonly name: OperationName
  readonly method: 'GET' | 'POST'
  /** Path below the base URL. */
  readonly path: string
  readonly arguments: readonly Argument[]
}

/** A delivery of a message to one URL. */
export interface DeliveryRow extends ItemAndXp, Omit<DeliveryRecord, 'deliveryId' | 'attempts' | 'body' | 'signature'> {
  readonly key: string
  /** Key of the request that caused the message. */
  readonly cause?: string
  readonly isFromConsole?: boolean
  /** Sent by the Test tool, which never retries. */
  readonly isTest?: boolean
  /** Type of the event, or the scope of a message without an event. */
  readonly type: string
  /** Account and campaign in the message; empty for a message without them. */
  readonly user: string
  readonly pid: string
  /** The latest fault that affected an attempt. */
  readonly fault?: DeliveryFaultKind
  /** Number of attempts that have ended. */
  readonly attempts: number
  /** Number of these attempts that failed. */
  readonly failures: number
  /** HTTP status of the last attempt; absent when there was no response. */
  readonly lastStatus?: number
  /** The different statuses of the attempts; `none` stands for no response. */
  readonly statuses: readonly string[]
}

/** An attempt to deliver a message. */
export interface AttemptView extends DeliveryAttempt {
  /** What to do about the failure. */
  readonly advice?: string
  /** For a 401: what is wrong with the signature or the secret. */
  readonly findings: readonly string[]
}

export interface DeliveryView extends DeliveryRow, Pick<DeliveryRecord, 'body' | 'signature'> {
  readonly attemptsMade: readonly AttemptView[]
  /** The message as a shell command; absent for a message of the Test tool. */
  readonly curl?: string
}

export interface FaultView {
  readonly key: string
  readonly options: FaultOptions
  /** Number of further requests that the fault affects; `null` for all. */
  readonly remaining: number | null
}

/** The settings of the server. They stay the same while the command runs. */
export interface Setup {
  readonly operations: readonly string[]
  /** Whether the environment has a secret. New webhooks use that secret by default. */
  readonly hasSecret: boolean
  /** Whether the service accepts any token. Otherwise `dev` got its tokens from `--token` or the seed. */
  readonly acceptsAnyToken: boolean
}

/** The state of the service, except for its requests, deliveries and clock. */
export interface ServiceOverview extends Setup {
  readonly webhooks: readonly WebhookRecord[]
  readonly faults: readonly FaultView[]
  readonly campaigns: readonly CampaignView[]
}

/** The changes of a list since a revision. */
export interface ListChanges<Row> {
  /** The rows that are new or changed, oldest first. */
  readonly rows: readonly Row[]
  /** Number of rows that the server keeps. */
  readonly kept: number
  /** Number of older rows that were discarded to limit memory. */
  readonly discarded: number
  /** Number of rows that were removed on the page. */
  readonly cleared: number
}

/** The changes of the service since a revision. */
export interface Changes {
  /** Sent with the next poll. */
  readonly revision: string
  /** Whether both lists contain all rows. The page must then discard the rows that it has. */
  readonly isFull: boolean
  readonly requests: ListChanges<RequestRow>
  readonly deliveries: ListChanges<DeliveryRow>
  /** Absent when unchanged. */
  readonly state?: ServiceOverview
  /** The time of the service minus the time of the machine, in milliseconds, rounded to whole seconds. */
  readonly aheadMs: number
}

/** The results of the actions that return data. All other actions return `null`. */
interface ActionData {
  readonly listMethods: readonly MethodView[]
  /** `key` is the key of the request. */
  readonly callMethod: { readonly key: string }
  readonly listUsers: UserList
  readonly readUser: UserView
  readonly readRequest: RequestDetails
  readonly readDelivery: DeliveryView
  /** The keys of the rows that contain each word. */
  readonly findInBodies: readonly { readonly word: string; readonly keys: readonly string[] }[]
  /** Number of rows that were removed. */
  readonly clearRows: { readonly cleared: number }
  /** `completed` is false if the task was completed before. `messages` has the IDs of the messages that followed. */
  readonly completeTask: { readonly completed: boolean; readonly messages: readonly string[] }
  readonly saveWebhook: WebhookRecord
  readonly testWebhook: TestWebhookResult
  /** `deliveries` has an ID for each URL that the message was sent to. */
  readonly emit: { readonly messageId: string; readonly deliveries: readonly string[] }
  readonly redeliver: { readonly key: string }
  readonly addFault: { readonly key: string }
  /** IDs of the webhooks whose secret is missing. */
  readonly loadSeed: { readonly unsigned: readonly string[] }
}

export type { ActionName, ActionRequest }
export type ActionResult<Name extends ActionName> = Name extends keyof ActionData ? ActionData[Name] : null

/** The response to an action: its data, or an error message with the form field that it concerns. */
export type ActionResponse<Name extends ActionName> =
  | { readonly data: ActionResult<Name> }
  | { readonly error: string; readonly field?: string }

/** The error of a console action. Its message is shown on the page. */
export class Problem extends Error {
  /** Name of the form field with the wrong value. */
  readonly field: string | undefined

  constructor(message: string, field?: string) {
    super(message)
    this.field = field
  }
}

/** The paths of the console. */
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

import {
  type AcceptedData,
  type AccessTokenSource,
  type AnyCampaignError,
  type ApiError,
  type ApiErrorCode,
  type CallOptions,
  CampaignClient,
  type CampaignClientOptions,
  CampaignError,
  type CampaignErrorCode,
  type CampaignInfo,
  type CampaignPoints,
  type ChallengeEntry,
  type ClientHooks,
  type CompletionStatus,
  type DerivedClientOptions,
  type FetchLike,
  type InvalidRequestError,
  type InvalidResponseEvent,
  type InviteCode,
  type Issue,
  isCampaignError,
  type LeaseErrorCode,
  type Metadata,
  type NetworkError,
  type OpenQueryOperation,
  type OperationName,
  type QueryNames,
  type QuestDefinition,
  type QuestEntry,
  type RateLimitError,
  ReferralRejectedError,
  type RequestEvent,
  type ResponseEvent,
  type RetryEvent,
  type RewardEntry,
  type TaskDefinition,
  type TaskEntry,
  TimeoutError,
  type UnexpectedResponseError,
  type UserProfiles,
  type UserProgress,
  type WebhookErrorCode,
  type WebhookRegistration,
  type WriteOutcome,
} from 'campaign-client'
import { describe, expectTypeOf, test } from 'vitest'
import type { DataOf, RequestOf } from '../../src/endpoints/index.ts'
import type { contract } from '../contract/operations.ts'

const client = new CampaignClient({ baseUrl: 'https://service.example/api/v1', accessToken: 'token' })
const user = { account: 'ada', platform: 'web', pid: 'demo' }

test('every operation has a method with its request and its result', () => {
  type Methods = {
    [Name in OperationName]: (request: RequestOf<Name>, options?: CallOptions) => Promise<DataOf<Name>>
  }
  expectTypeOf<keyof CampaignClient>().toEqualTypeOf<OperationName | 'with'>()
  expectTypeOf<Pick<CampaignClient, OperationName>>().toEqualTypeOf<Methods>()
})

describe('the contract', () => {
  type Contract = typeof contract
  type Mutable<Value> = Value extends object ? { -readonly [Key in keyof Value]: Mutable<Value[Key]> } : Value
  type Optional<Fields> = { [Name in keyof Fields]: Fields[Name] extends `${string}?` ? Name : never }[keyof Fields]
  type FieldOf<Kind> = Kind extends 'number' ? number : string

  test('has the fields of every request, required or not', () => {
    type Described<Fields> = { [Name in Exclude<keyof Fields, Optional<Fields>>]: FieldOf<Fields[Name]> } & {
      [Name in Optional<Fields>]?: FieldOf<Fields[Name]> | undefined
    }
    type Same<One, Other> = [One, Other, keyof One] extends [Other, One, keyof Other] ? true : false
    type Agreed = {
      [Name in OperationName]: Same<RequestOf<Name>, Described<Mutable<Contract[Name]['fields']>>> extends true
        ? true
        : Name
    }
    expectTypeOf<Agreed[OperationName]>().toEqualTypeOf<true>()
  })

  test('has examples of every request and of its result', () => {
    type Typed = {
      [Name in OperationName]: Contract[Name]['request'] extends RequestOf<Name>
        ? Mutable<Contract[Name]['result']> extends DataOf<Name>
          ? true
          : Name
        : Name
    }
    expectTypeOf<Typed[OperationName]>().toEqualTypeOf<true>()
  })
})

describe('requests', () => {
  test('do not compile with a missing field, a wrong type or an unknown name', () => {
    // @ts-expect-error no pid
    client.getUserProgress({ account: 'ada', platform: 'web' })
    // @ts-expect-error xp is a number
    client.rewardWallet({ address: '0x', pid: 'demo', id: 'r', xp: '5' })
    // @ts-expect-error the field is named pid
    client.getCampaignInfo({ campaignId: 'demo' })
    // @ts-expect-error the field is named ref_id
    client.setReferrerByRefId({ ...user, refId: 'l' })
    // @ts-expect-error no such field
    client.updateUser({ ...user, email: 'ada@example.org' })
    // @ts-expect-error null is not undefined
    client.updateUser({ ...user, team: null })
    // @ts-expect-error the argument is missing
    client.getCampaignPoints()
    // @ts-expect-error no such method
    client.deleteUser
  })

  test('may omit optional fields, or pass undefined', () => {
    expectTypeOf(client.updateUser).toBeCallableWith(user)
    expectTypeOf(client.updateUser).toBeCallableWith({ ...user, team: undefined })
    expectTypeOf(client.registerWebhook).toBeCallableWith({ scope: 'anything', url: 'https://partner.example' })
  })
})

describe('results', () => {
  test('have the documented fields', () => {
    interface Entry {
      id: string
      name: string
      xp: number
      xp_mul: number
      meta?: Metadata | null | undefined
      status: CompletionStatus
    }
    expectTypeOf<TaskEntry>().toEqualTypeOf<Entry>()
    expectTypeOf<ChallengeEntry>().toEqualTypeOf<Entry>()
    expectTypeOf<QuestEntry>().branded.toEqualTypeOf<Entry & { actions: string[] }>()
    expectTypeOf<RewardEntry>().toEqualTypeOf<{ id: string; reward: string; type: string }>()
    expectTypeOf<UserProgress>().toEqualTypeOf<{
      id: string
      user_id: string
      name: string
      actions: TaskEntry[]
      quests: QuestEntry[]
      challenges: ChallengeEntry[]
      rewards: RewardEntry[]
      total: number
      xp: number
      ref_xp: number
      ugc_xp: number
      xp_mul: number
      rank: number
      team: string
    }>()
    expectTypeOf<TaskDefinition>().toEqualTypeOf<{
      id: string
      name: string
      type: string
      recurrence: string
      ref_xp: number
      xp: number
      xp_mul: number
      meta?: Metadata | null | undefined
      deps: string[]
      is_optional: boolean
    }>()
    expectTypeOf<QuestDefinition>().toEqualTypeOf<{
      id: string
      name: string
      actions: string[]
      xp: number
      xp_mul: number
      meta?: Metadata | null | undefined
      deps: string[]
    }>()
    expectTypeOf<CampaignInfo>().toEqualTypeOf<{
      id: string
      name: string
      actions: TaskDefinition[]
      quests: QuestDefinition[]
    }>()
    expectTypeOf<CampaignPoints>().toEqualTypeOf<{
      id: string
      name: string
      total_points: number
      season_points: number
      season_index: number
      season: { name: string; max_xp: number }
    }>()
    expectTypeOf<UserProfiles>().toEqualTypeOf<{
      user_id: string
      xp: number
      ref_xp: number
      ugc_xp: number
      refs: number
      ref_count: number
      profiles: { account: string; platform: string }[]
    }>()
    expectTypeOf<InviteCode>().toEqualTypeOf<{ used_by: string[] }>()
    expectTypeOf<AcceptedData>().toEqualTypeOf<Record<string, unknown>>()
    expectTypeOf<Metadata>().toEqualTypeOf<Record<string, unknown>>()
  })

  test('contain the known values of a status and accept any other string', () => {
    // The type is not plain `string`, so that editors complete the known values.
    expectTypeOf<CompletionStatus>().not.toEqualTypeOf<string>()
    expectTypeOf<Extract<CompletionStatus, 'none' | 'completed'>>().toEqualTypeOf<'none' | 'completed'>()
    expectTypeOf<'none'>().toExtend<CompletionStatus>()
    expectTypeOf<string>().toExtend<CompletionStatus>()
    expectTypeOf<CompletionStatus>().toExtend<string>()
    expectTypeOf<number>().not.toExtend<CompletionStatus>()
    expectTypeOf<Extract<WebhookRegistration['scope'], 'user_activity'>>().toEqualTypeOf<'user_activity'>()
    expectTypeOf<string>().toExtend<WebhookRegistration['scope']>()
    expectTypeOf<
      Extract<ReferralRejectedError['reason'], 'missing_user' | 'self_referral_not_allowed'>
    >().toEqualTypeOf<'missing_user' | 'self_referral_not_allowed'>()
  })
})

describe('client options', () => {
  test('require baseUrl and accessToken', () => {
    // @ts-expect-error no accessToken
    new CampaignClient({ baseUrl: 'https://service.example' })
    // @ts-expect-error no baseUrl
    new CampaignClient({ accessToken: 'token' })
    // @ts-expect-error no options
    new CampaignClient()
    expectTypeOf<CampaignClientOptions['baseUrl']>().toEqualTypeOf<string | URL>()
    expectTypeOf<CampaignClientOptions['accessToken']>().toEqualTypeOf<string | AccessTokenSource>()
    expectTypeOf<() => string>().toExtend<AccessTokenSource>()
    expectTypeOf<() => Promise<string>>().toExtend<AccessTokenSource>()
    expectTypeOf<() => Promise<string | undefined>>().not.toExtend<AccessTokenSource>()
  })

  test('have the documented names', () => {
    expectTypeOf<keyof CampaignClientOptions>().toEqualTypeOf<
      | 'baseUrl'
      | 'accessToken'
      | 'retryDelayMs'
      | 'limits'
      | 'guard'
      | 'timeoutMs'
      | 'totalTimeoutMs'
      | 'maxRetries'
      | 'fetch'
      | 'transport'
      | 'maxResponseBytes'
      | 'headers'
      | 'allowInsecureHttp'
      | 'queryNames'
      | 'webhookRegistrationPath'
      | 'responseValidation'
      | 'hooks'
    >()
    expectTypeOf<keyof CallOptions>().toEqualTypeOf<
      'signal' | 'timeoutMs' | 'totalTimeoutMs' | 'maxRetries' | 'headers' | 'query'
    >()
    // @ts-expect-error the option is named timeoutMs
    new CampaignClient({ baseUrl: '', accessToken: '', timeout: 5 })
    // @ts-expect-error not a known value
    new CampaignClient({ baseUrl: '', accessToken: '', responseValidation: 'warn' })
    const transport = { send: () => Promise.reject(new Error('unused')) }
    new CampaignClient({ baseUrl: '', accessToken: '', transport })
    new CampaignClient({ baseUrl: '', accessToken: '', fetch, transport: undefined })
    // @ts-expect-error a transport replaces fetch
    new CampaignClient({ baseUrl: '', accessToken: '', fetch, transport })
    // @ts-expect-error a derived client shares the transport
    client.with({ timeoutMs: 5, transport })
    // @ts-expect-error a derived client shares fetch
    client.with({ timeoutMs: 5, fetch })
    // @ts-expect-error options must be an object
    client.getCampaignInfo({ pid: 'demo' }, 5)
  })

  test('accept the fetch of the platform', () => {
    expectTypeOf<NonNullable<CampaignClientOptions['fetch']>>().toEqualTypeOf<FetchLike>()
    expectTypeOf<typeof globalThis.fetch>().toExtend<FetchLike>()
    expectTypeOf<(input: string | URL | Request, init?: RequestInit) => Promise<Response>>().toExtend<FetchLike>()
    expectTypeOf<(url: string) => Promise<string>>().not.toExtend<FetchLike>()
    // A wrapper can call the global fetch with its arguments.
    const wrapper: FetchLike = (url, init) => fetch(new Request(url, init))
    expectTypeOf(wrapper).toBeFunction()
  })

  test('rename only the query parameters that the interface does not document', () => {
    expectTypeOf<OpenQueryOperation>().toEqualTypeOf<
      'getCampaignInfo' | 'getCampaignPoints' | 'getUserProfiles' | 'getInviteCode'
    >()
    expectTypeOf<keyof QueryNames>().toEqualTypeOf<OpenQueryOperation>()
    expectTypeOf<keyof NonNullable<QueryNames['getCampaignInfo']>>().toEqualTypeOf<'pid'>()
    expectTypeOf<keyof NonNullable<QueryNames['getCampaignPoints']>>().toEqualTypeOf<'pid'>()
    expectTypeOf<keyof NonNullable<QueryNames['getUserProfiles']>>().toEqualTypeOf<'account' | 'platform' | 'pid'>()
    expectTypeOf<keyof NonNullable<QueryNames['getInviteCode']>>().toEqualTypeOf<'code' | 'pid'>()
    const names = (queryNames: QueryNames) => queryNames
    names({ getCampaignInfo: { pid: 'id' }, getInviteCode: undefined })
    // @ts-expect-error the name is undefined
    names({ getInviteCode: { code: undefined } })
    // @ts-expect-error the names of this operation are documented
    names({ getUserProgress: { pid: 'id' } })
    // @ts-expect-error no such argument
    names({ getCampaignInfo: { account: 'user' } })
    // @ts-expect-error a name is a string
    names({ getCampaignInfo: { pid: 5 } })
  })

  test('accept hooks with typed events', () => {
    const hooks: ClientHooks = {
      onRequest: (event) => expectTypeOf(event).toEqualTypeOf<RequestEvent>(),
      onResponse: (event) => expectTypeOf(event).toEqualTypeOf<ResponseEvent>(),
      onRetry: (event) => expectTypeOf(event).toEqualTypeOf<RetryEvent>(),
      onInvalidResponse: (event) => expectTypeOf(event).toEqualTypeOf<InvalidResponseEvent>(),
    }
    expectTypeOf(hooks).toExtend<NonNullable<CampaignClientOptions['hooks']>>()
    // A hook may be asynchronous.
    expectTypeOf<{ onRequest: (event: RequestEvent) => Promise<void> }>().toExtend<ClientHooks>()
    expectTypeOf<RequestEvent['operation']>().toEqualTypeOf<OperationName>()
    expectTypeOf<RetryEvent['error']>().toEqualTypeOf<CampaignError>()
  })
})

describe('errors', () => {
  test('can be narrowed by instanceof', () => {
    const error: unknown = undefined
    if (error instanceof ReferralRejectedError) {
      expectTypeOf(error.status).toEqualTypeOf<number>()
      expectTypeOf(error).toExtend<ApiError>()
    } else if (error instanceof TimeoutError) {
      expectTypeOf(error.scope).toEqualTypeOf<'attempt' | 'total'>()
      expectTypeOf(error.timeoutMs).toEqualTypeOf<number>()
    } else if (error instanceof CampaignError) {
      expectTypeOf(error.code).toEqualTypeOf<CampaignErrorCode>()
      expectTypeOf(error.operation).toEqualTypeOf<string | undefined>()
      expectTypeOf(error.outcome).toEqualTypeOf<WriteOutcome | undefined>()
      // @ts-expect-error only errors caused by a response have a status
      error.status
    }
  })

  test('can be distinguished by code in a switch', () => {
    const isFinal = (error: CampaignError): boolean => {
      switch (error.code) {
        case 'rate_limited':
        case 'network':
          return false
        // @ts-expect-error a misspelt code
        case 'rate_limitted':
          return false
        default:
          expectTypeOf(error.code).toEqualTypeOf<Exclude<CampaignErrorCode, 'rate_limited' | 'network'>>()
          return true
      }
    }
    expectTypeOf(isFinal).toBeFunction()
  })

  test('of this package are narrowed by a switch over code', () => {
    const handle = (error: unknown): unknown => {
      if (!isCampaignError(error)) return undefined
      expectTypeOf(error).toEqualTypeOf<AnyCampaignError>()
      switch (error.code) {
        case 'rate_limited':
          expectTypeOf(error).toEqualTypeOf<RateLimitError>()
          return error.retryAfterMs
        case 'configuration':
          return error.issues
        case 'missing_signature':
          return error.status
        case 'award_run_stopped':
          return error.report.complete
        case 'award_unsettled':
          return error.reason
        case 'api_error':
          return error.serviceCode
        case 'discard_event':
          return error.cause
        default:
          // @ts-expect-error not every class has issues
          return error.issues
      }
    }
    expectTypeOf(handle).toBeFunction()
    expectTypeOf<AnyCampaignError['code']>().toEqualTypeOf<CampaignErrorCode>()
  })

  test('have the codes of their class', () => {
    expectTypeOf<ApiError['code']>().toEqualTypeOf<ApiErrorCode>()
    expectTypeOf<RateLimitError['code']>().toEqualTypeOf<'rate_limited'>()
    expectTypeOf<ReferralRejectedError['code']>().toEqualTypeOf<'referral_rejected'>()
    expectTypeOf<NetworkError['code']>().toEqualTypeOf<'network'>()
    expectTypeOf<TimeoutError['code']>().toEqualTypeOf<'timeout'>()
    expectTypeOf<UnexpectedResponseError['code']>().toEqualTypeOf<'unexpected_response'>()
    expectTypeOf<ApiErrorCode | WebhookErrorCode | LeaseErrorCode>().toExtend<CampaignErrorCode>()
  })

  test('have typed fields', () => {
    expectTypeOf<WriteOutcome>().toEqualTypeOf<'not_applied' | 'unknown'>()
    expectTypeOf<ApiError['serviceCode']>().toEqualTypeOf<number | undefined>()
    expectTypeOf<ApiError['retryAfterMs']>().toEqualTypeOf<number | undefined>()
    expectTypeOf<ApiError['headers']>().toEqualTypeOf<Readonly<Record<string, string>>>()
    expectTypeOf<NetworkError['systemCode']>().toEqualTypeOf<string | undefined>()
    expectTypeOf<InvalidRequestError['issues']>().toEqualTypeOf<readonly Issue[]>()
    expectTypeOf<UnexpectedResponseError['issues']>().toEqualTypeOf<readonly Issue[]>()
    expectTypeOf<Issue['path']>().toEqualTypeOf<readonly (string | number)[]>()
  })
})

describe('a derived client', () => {
  test('accepts another baseUrl only together with a token', () => {
    expectTypeOf({ baseUrl: 'https://other.example/api/v1', accessToken: 'other' }).toExtend<DerivedClientOptions>()
    expectTypeOf({ accessToken: 'other' }).toExtend<DerivedClientOptions>()
    expectTypeOf({ baseUrl: 'https://other.example/api/v1' }).not.toExtend<DerivedClientOptions>()
  })

  test('cannot have its own transport, fetch or limits', () => {
    // @ts-expect-error shared with the parent
    client.with({ limits: { maxConcurrency: 1 } })
    // @ts-expect-error shared with the parent
    client.with({ fetch: globalThis.fetch })
    // @ts-expect-error shared with the parent
    client.with({ transport: { send: () => Promise.reject(new Error()) } })
  })
})

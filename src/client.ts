import { Call, type CallContext } from './call/call.ts'
import { Failure } from './call/failure.ts'
import { RateLimiter } from './call/rate-limiter.ts'
import { guardIssues } from './call/request.ts'
import { AccessTokens } from './call/tokens.ts'
import type {
  CampaignInfo,
  CampaignPoints,
  GetCampaignInfoRequest,
  GetCampaignPointsRequest,
  GetInviteCodeRequest,
  GetUserProfilesRequest,
  GetUserProgressRequest,
  InviteCode,
  RecordActionValueRequest,
  RewardWalletRequest,
  SetReferrerByRefIdRequest,
  SetReferrerRequest,
  UpdateUserRequest,
  UserProfiles,
  UserProgress,
  WebhookRegistration,
} from './endpoints/index.ts'
import type { CallOptions, CampaignClientOptions, DerivedClientOptions } from './options.ts'
import type { AcceptedData } from './schemas/fields.ts'
import { clientSettings, derivedOptions, readClientOptions } from './settings.ts'
import { CLIENT_INTERNALS, type ClientInternals, clientInternals } from './shared/client-internals.ts'
import { identityOf } from './shared/jwt.ts'
import { fetchTransport } from './transports/fetch.ts'

interface ClientContext extends CallContext {
  /** The checked options, without defaults. */
  readonly options: CampaignClientOptions
}

/**
 * The context of each client. Printing a client does not show it. With a private field in its declaration, the class would not
 * accept clients of the CommonJS declarations or of a second copy of the package.
 */
const contexts = new WeakMap<CampaignClient, ClientContext>()

/** Returns the context of a client. @throws TypeError when a method is called on another object */
function contextOf(client: CampaignClient): ClientContext {
  const context = contexts.get(client)
  if (context === undefined)
    throw new TypeError('the method was not called on a CampaignClient; call it as client.method()')
  return context
}

/**
 * A client of the campaign engagement service, with one method per endpoint.
 *
 * Each method checks its arguments, sends a request and resolves to the `data` of the response. A call that fails rejects with
 * a {@link CampaignError}. A call that you abort rejects with the reason of your `signal`. The error of a failed write has
 * an `outcome`: whether the service may have applied it. The client retries temporary failures if a retry is safe for the
 * method.
 *
 * Call the methods on the client itself. A detached method, or a `Proxy` around the client, throws a `TypeError`: wrap calls in
 * functions instead.
 *
 * Create one client and share it: concurrent calls share one token. A client has no `close`: it holds nothing open.
 *
 * @example
 * ```ts
 * import { CampaignClient } from 'campaign-client'
 * import { createCampaignService } from 'campaign-client/testing'
 *
 * const client = new CampaignClient({
 *   baseUrl: 'https://service.example/api/v1', // the base URL of your account
 *   accessToken: 'any', // your access token, or a function that returns it
 *   fetch: createCampaignService().fetch, // a local service: remove the line
 * })
 * const user = { account: 'ada', platform: 'discord', pid: 'demo' }
 * const ada = await client.getUserProgress(user)
 * console.log(ada.total, ada.rank) // → 1215 1
 * ```
 */
export class CampaignClient {
  static {
    // Bulk awards use the internals. The property is not part of the type, and not enumerable.
    Object.defineProperty(this.prototype, CLIENT_INTERNALS, {
      get(this: CampaignClient) {
        const context = contexts.get(this)
        return context && createInternals(context)
      },
    })
  }

  /** @internal Recognises clients of every loaded copy of the package. */
  static [Symbol.hasInstance](value: unknown): boolean {
    const isSubclass = !Object.hasOwn(this, Symbol.hasInstance)
    return isSubclass ? Function.prototype[Symbol.hasInstance].call(this, value) : clientInternals(value) !== undefined
  }

  /**
   * Creates a client. It does not read environment variables.
   *
   * @param options - Base URL and token of the service, and settings for all calls.
   * @throws ConfigurationError when an option is wrong. The message names each wrong option, without its value.
   */
  constructor(options: CampaignClientOptions) {
    const own = readClientOptions(options)
    const settings = clientSettings(own)
    contexts.set(this, {
      options: own,
      settings,
      tokens: new AccessTokens(settings),
      transport: settings.transport ?? fetchTransport(settings.fetch),
      limiter: new RateLimiter(settings.limits),
    })
  }

  /**
   * Returns a new client with other options, for example for another tenant, token or team. The new client shares the
   * transport and `limits.maxConcurrency` with this one. Pauses after a 429 and `limits.requestsPerSecond` apply per token.
   *
   * The given options replace those of this client. Two options are special: a `guard` can only become stricter, and
   * `baseUrl` requires an `accessToken`.
   *
   * A subclass must override this method to return an instance of itself.
   *
   * @param options - The options that differ. `transport`, `fetch` and `limits` cannot differ.
   * @throws ConfigurationError when an option is wrong or cannot differ.
   *
   * @example
   * ```ts
   * const cautious = client.with({ guard: { campaigns: ['demo'], maxXpPerAward: 500 }, maxRetries: 5 })
   * const { name } = await cautious.getCampaignInfo({ pid: 'demo' })
   * ```
   */
  with(options: DerivedClientOptions): CampaignClient {
    const { options: parentOptions, transport, limiter, tokens } = contextOf(this)
    const { options: ownOptions, hasOwnToken } = derivedOptions(parentOptions, options)
    const derived = newClient(ownOptions)
    contexts.set(derived, { ...contextOf(derived), transport, limiter, ...(!hasOwnToken && { tokens }) })
    return derived
  }

  /**
   * Reads a user's progress in a campaign: tasks, quests and challenges with their status, rewards, XP, rank and team.
   *
   * A user without an entry in the campaign causes a `BadRequestError` (assumed). `npx campaign-client check` tests it.
   *
   * A retry is safe: the client retries after lost connections, timeouts, 408, 429, 500, 502, 503 and 504.
   * See "GET /user/progress" in docs/the-service.md.
   *
   * @throws InvalidRequestError when an argument is wrong; nothing was sent.
   * @throws BadRequestError | UnauthorizedError | AccessDeniedError | RateLimitError | ServiceError | ApiError when the
   * service responds with an error.
   * @throws UnexpectedResponseError when the response does not have the documented shape.
   * @throws NetworkError | TimeoutError when no response arrived.
   * @throws AccessTokenError when the token source failed.
   *
   * @example
   * ```ts
   * const progress = await client.getUserProgress({ account: 'ada', platform: 'discord', pid: 'demo' })
   * const open = progress.actions.filter((task) => task.status === 'none')
   * console.log(progress.total, open.map((task) => task.id).join()) // → 1215 share,daily-visit,feedback
   * ```
   */
  getUserProgress(request: GetUserProgressRequest, options?: CallOptions): Promise<UserProgress> {
    return new Call(contextOf(this), 'getUserProgress').run(request, options)
  }

  /**
   * Awards XP to a wallet address. If the address is new, the service registers it and creates its campaign entry. The
   * service also sends a webhook message.
   *
   * A retry is guarded: the service accepts each `id` once. After an error with `outcome: 'unknown'`, you may call
   * again with the same `id`. If an attempt was applied and its response was lost, the service refuses the retry, and
   * the error has `outcome: 'unknown'`.
   * See "POST /wallet/reward" in docs/the-service.md.
   *
   * @throws InvalidRequestError when an argument is wrong, such as an `xp` that is not finite; nothing was sent.
   * @throws BadRequestError | UnauthorizedError | AccessDeniedError | RateLimitError | ServiceError | ApiError when the
   * service responds with an error. For a used `id`, `BadRequestError` is assumed.
   * @throws NetworkError | TimeoutError | UnexpectedResponseError when the outcome may be unknown.
   * @throws AccessTokenError when the token source failed.
   *
   * @example
   * ```ts
   * import { rewardId } from 'campaign-client/bulk'
   *
   * const wallet = { address: '0x52908400098527886E0F7030069857D2E4169EE7', pid: 'demo' }
   * const award = { ...wallet, id: rewardId({ ...wallet, reason: 'launch party' }), xp: 250 }
   * await client.rewardWallet(award)
   * await client.rewardWallet(award).catch((error) => console.log(error.code)) // → bad_request
   * ```
   */
  rewardWallet(request: RewardWalletRequest, options?: CallOptions): Promise<void> {
    return new Call(contextOf(this), 'rewardWallet').run(request, options)
  }

  /**
   * Makes one user the referrer of another. The service registers new users. It also checks that the two users differ:
   * the client does not.
   *
   * A retry is guarded: a user has one referrer. If a retry is refused after a lost response, the error has
   * `outcome: 'unknown'`. See "POST /user/referrer" in docs/the-service.md.
   *
   * @returns Resolves to an empty object.
   * @throws ReferralRejectedError when the service responds with `missing_user` or `self_referral_not_allowed`.
   * @throws InvalidRequestError when an argument is wrong; nothing was sent.
   * @throws BadRequestError | UnauthorizedError | AccessDeniedError | RateLimitError | ServiceError | ApiError when the
   * service responds with an error.
   * @throws NetworkError | TimeoutError | UnexpectedResponseError when the outcome may be unknown.
   * @throws AccessTokenError when the token source failed.
   *
   * @example
   * ```ts
   * await client.setReferrer({ referrer: 'ada', referral: 'hedy', platform: 'discord', pid: 'demo' })
   * const { ref_count } = await client.getUserProfiles({ account: 'ada', platform: 'discord', pid: 'demo' })
   * console.log(ref_count) // → 2
   * ```
   */
  setReferrer(request: SetReferrerRequest, options?: CallOptions): Promise<AcceptedData> {
    return new Call(contextOf(this), 'setReferrer').run(request, options)
  }

  /**
   * Updates a user's name, alias and team. The service creates the campaign entry if there is none. Omitted fields
   * are not sent.
   *
   * A retry is safe: it leads to the same final state. See "POST /user" in docs/the-service.md.
   *
   * @returns Resolves to an empty object.
   * @throws InvalidRequestError when an argument is wrong; nothing was sent.
   * @throws BadRequestError | UnauthorizedError | AccessDeniedError | RateLimitError | ServiceError | ApiError when the
   * service responds with an error.
   * @throws NetworkError | TimeoutError | UnexpectedResponseError when the outcome may be unknown.
   * @throws AccessTokenError when the token source failed.
   *
   * @example
   * ```ts
   * await client.updateUser({ account: 'linus', platform: 'discord', pid: 'demo', team: 'kernel' })
   * const { name, team } = await client.getUserProgress({ account: 'linus', platform: 'discord', pid: 'demo' })
   * console.log(name, team) // → Linus kernel
   * ```
   */
  updateUser(request: UpdateUserRequest, options?: CallOptions): Promise<AcceptedData> {
    return new Call(contextOf(this), 'updateUser').run(request, options)
  }

  /**
   * Makes the owner of a referral link the referrer of a user. The service creates the campaign entry if there is none.
   *
   * A retry is guarded: a user has one referrer. If a retry is refused after a lost response, the error has
   * `outcome: 'unknown'`. See "POST /user/ref_id" in docs/the-service.md.
   *
   * @returns Resolves to an empty object.
   * @throws InvalidRequestError when an argument is wrong; nothing was sent.
   * @throws BadRequestError | UnauthorizedError | AccessDeniedError | RateLimitError | ServiceError | ApiError when the
   * service responds with an error.
   * @throws NetworkError | TimeoutError | UnexpectedResponseError when the outcome may be unknown.
   * @throws AccessTokenError when the token source failed.
   *
   * @example
   * ```ts
   * await client.setReferrerByRefId({ account: 'hedy', platform: 'discord', pid: 'demo', ref_id: 'ref-ada' })
   * ```
   */
  setReferrerByRefId(request: SetReferrerByRefIdRequest, options?: CallOptions): Promise<AcceptedData> {
    return new Call(contextOf(this), 'setReferrerByRefId').run(request, options)
  }

  /**
   * Records a numeric value for a user's task in a quest.
   *
   * A retry is unsafe: it would count twice. The client retries only after a 429, or when its transport (such as
   * `nodeTransport`) knows that the request was never sent. After an error with `outcome: 'unknown'`, read the progress
   * before you call again.
   * See "POST /action/value" in docs/the-service.md.
   *
   * @throws InvalidRequestError when an argument is wrong, such as a `value` that is not finite; nothing was sent.
   * @throws ApiError or a subclass when the service responds with an error. The API description does not list its errors.
   * @throws NetworkError | TimeoutError | UnexpectedResponseError when the outcome may be unknown.
   * @throws AccessTokenError when the token source failed.
   *
   * @example
   * ```ts
   * await client.recordActionValue({
   *   account: 'linus',
   *   platform: 'discord',
   *   pid: 'demo',
   *   cid: 'welcome',
   *   aid: 'connect-wallet',
   *   value: 1,
   * })
   * const { total } = await client.getUserProgress({ account: 'linus', platform: 'discord', pid: 'demo' })
   * console.log(total) // → 50
   * ```
   */
  recordActionValue(request: RecordActionValueRequest, options?: CallOptions): Promise<void> {
    return new Call(contextOf(this), 'recordActionValue').run(request, options)
  }

  /**
   * Reads the tasks and quests of a campaign, with their rewards and dependencies. The client converts `xp_mul` and `ref_xp`
   * from numeric strings to numbers.
   *
   * The name of the query parameter (`pid`) is assumed: to change it, set `queryNames`. The API description does not show
   * the parameter that selects the development environment: send it with `options.query`. A retry is safe. See
   * "GET /campaign/info" in docs/the-service.md.
   *
   * @throws InvalidRequestError when an argument is wrong; nothing was sent.
   * @throws ApiError or a subclass when the service responds with an error. The API description does not list its errors.
   * @throws UnexpectedResponseError when the response does not have the documented shape.
   * @throws NetworkError | TimeoutError when no response arrived.
   * @throws AccessTokenError when the token source failed.
   *
   * @example
   * ```ts
   * const { actions } = await client.getCampaignInfo({ pid: 'demo' })
   * const share = actions.find((task) => task.id === 'share')
   * console.log(share?.xp, share?.xp_mul, share?.deps.join()) // → 30 1.5 follow
   * ```
   */
  getCampaignInfo(request: GetCampaignInfoRequest, options?: CallOptions): Promise<CampaignInfo> {
    return new Call(contextOf(this), 'getCampaignInfo').run(request, options)
  }

  /**
   * Reads a campaign's point totals and its current season.
   *
   * The name of the query parameter (`pid`) is assumed: to change it, set `queryNames`. A retry is safe.
   * See "GET /campaign/points" in docs/the-service.md.
   *
   * @throws InvalidRequestError when an argument is wrong; nothing was sent.
   * @throws ApiError or a subclass when the service responds with an error. The API description does not list its errors.
   * @throws UnexpectedResponseError when the response does not have the documented shape.
   * @throws NetworkError | TimeoutError when no response arrived.
   * @throws AccessTokenError when the token source failed.
   *
   * @example
   * ```ts
   * const { season_points, season } = await client.getCampaignPoints({ pid: 'demo' })
   * console.log(`${season_points} points in ${season.name}`) // → 265 points in Summer
   * ```
   */
  getCampaignPoints(request: GetCampaignPointsRequest, options?: CallOptions): Promise<CampaignPoints> {
    return new Call(contextOf(this), 'getCampaignPoints').run(request, options)
  }

  /**
   * Reads the accounts linked to a user, with the user's totals.
   *
   * The names of the query parameters (`account`, `platform`, `pid`) are assumed: to change them, set `queryNames`. A
   * retry is safe. See "GET /user/profiles" in docs/the-service.md.
   *
   * @throws InvalidRequestError when an argument is wrong; nothing was sent.
   * @throws BadRequestError | UnauthorizedError | AccessDeniedError | RateLimitError | ServiceError | ApiError when the
   * service responds with an error.
   * @throws UnexpectedResponseError when the response does not have the documented shape.
   * @throws NetworkError | TimeoutError when no response arrived.
   * @throws AccessTokenError when the token source failed.
   *
   * @example
   * ```ts
   * const { profiles } = await client.getUserProfiles({ account: 'ada', platform: 'discord', pid: 'demo' })
   * for (const { account, platform } of profiles) console.log(platform, account)
   * ```
   */
  getUserProfiles(request: GetUserProfilesRequest, options?: CallOptions): Promise<UserProfiles> {
    return new Call(contextOf(this), 'getUserProfiles').run(request, options)
  }

  /**
   * Reads the accounts that have used an invite code.
   *
   * The names of the query parameters (`code`, `pid`) are assumed: to change them, set `queryNames`. A retry is
   * safe. See "GET /code" in docs/the-service.md.
   *
   * @throws InvalidRequestError when an argument is wrong; nothing was sent.
   * @throws BadRequestError | UnauthorizedError | AccessDeniedError | RateLimitError | ServiceError | ApiError when the
   * service responds with an error.
   * @throws UnexpectedResponseError when the response does not have the documented shape.
   * @throws NetworkError | TimeoutError when no response arrived.
   * @throws AccessTokenError when the token source failed.
   *
   * @example
   * ```ts
   * const { used_by } = await client.getInviteCode({ code: 'WELCOME-2026', pid: 'demo' })
   * console.log(used_by.join()) // → ada,grace
   * ```
   */
  getInviteCode(request: GetInviteCodeRequest, options?: CallOptions): Promise<InviteCode> {
    return new Call(contextOf(this), 'getInviteCode').run(request, options)
  }

  /**
   * Registers a webhook. The API description does not show the path: set `webhookRegistrationPath`. Without it, the call fails
   * before anything is sent.
   *
   * A retry is unsafe: it might register twice. The client retries only after a 429, or when its transport knows that the
   * request was never sent.
   * See "Webhook registration" in docs/the-service.md.
   *
   * @returns Resolves to the `data` of the response. The API description does not show its fields.
   * @throws ConfigurationError when `webhookRegistrationPath` is not set.
   * @throws InvalidRequestError when an argument is wrong; nothing was sent.
   * @throws ApiError or a subclass when the service responds with an error. The API description does not list its errors.
   * @throws NetworkError | TimeoutError | UnexpectedResponseError when the outcome may be unknown.
   * @throws AccessTokenError when the token source failed.
   *
   * @example
   * ```ts
   * import { CampaignClient } from 'campaign-client'
   *
   * const client = new CampaignClient({
   *   baseUrl: 'https://service.example/api/v1',
   *   accessToken: 'a-token',
   *   webhookRegistrationPath: 'webhook', // the path you were given
   * })
   * await client.registerWebhook({
   *   scope: 'user_activity',
   *   url: 'https://partner.example/webhooks/campaign',
   *   secret: process.env.CAMPAIGN_WEBHOOK_SECRET,
   * })
   * ```
   */
  registerWebhook(request: WebhookRegistration, options?: CallOptions): Promise<unknown> {
    return new Call(contextOf(this), 'registerWebhook').run(request, options)
  }
}

// Outside the class, because bundlers rename a class that refers to itself by name, and logs would show the new name.
const newClient = (options: CampaignClientOptions): CampaignClient => new CampaignClient(options)

/** Creates the methods of a client that `bulk` uses. */
const createInternals = ({ settings, tokens }: ClientContext): ClientInternals => ({
  async target(operation, signal) {
    const token = await tokens.get(operation, { totalTimeoutMs: settings.totalTimeoutMs, signal })
    if (token instanceof Failure) throw Object.assign(token.error, { attempts: 0, outcome: 'not_applied' })
    return { address: settings.baseUrl, ...identityOf(token) }
  },
  maxRetries: settings.maxRetries,
  refusalsOfAward: (award) => guardIssues(settings.guard, award),
})

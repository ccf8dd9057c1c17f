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
} from './endpoints/types.ts'
import type { CallContext } from './http/attempt.ts'
import { call } from './http/call.ts'
import { createInternals } from './http/create-internals.ts'
import { AddressHint } from './http/decode-answer.ts'
import { fetchTransport } from './http/fetch-transport.ts'
import { RequestQueue } from './http/request-queue.ts'
import { AccessTokens } from './http/token.ts'
import type { CallOptions, CampaignClientOptions, DerivedClientOptions } from './options.ts'
import type { AcceptedData } from './schemas/accepted-data.ts'
import { clientSettings, copyOfClientOptions, derivedOptions } from './settings/client-settings.ts'
import { CLIENT_INTERNALS } from './shared/client-internals.ts'

/**
 * The campaign engagement service, one method per endpoint.
 *
 * Arguments are checked before anything is sent. A call resolves to the `data` of the answer, or rejects: with a
 * {@link CampaignError}, or with the reason of your own `signal` when you abort. `outcome` of a failed write tells whether
 * the service may have applied it. Temporary failures are retried, as far as the retry rule of the method allows.
 *
 * Call the methods on the client itself. A detached method, or a `Proxy` around the client, cannot read its private
 * fields: wrap calls in functions instead.
 *
 * A client holds no connection and needs no closing. Create one and share it: concurrent calls share one token.
 *
 * @example
 * ```ts
 * import { CampaignClient } from 'campaign-client'
 * import { createCampaignService } from 'campaign-client/testing'
 *
 * const client = new CampaignClient({
 *   baseUrl: 'https://service.example/api/v1',
 *   accessToken: 'any', // or a function that returns a token
 *   fetch: createCampaignService().fetch, // remove this line to call the service
 * })
 * const user = { account: 'ada', platform: 'discord', pid: 'demo' }
 * const ada = await client.getUserProgress(user)
 * console.log(ada.total, ada.rank) // → 1215 1
 * ```
 */
export class CampaignClient {
  // A `#` field, not TypeScript's `private`: printing the client cannot reach the token.
  #context: CallContext
  readonly #options: CampaignClientOptions

  static {
    // For the ledgers of bulk awards. Not part of the type, and not enumerable.
    Object.defineProperty(this.prototype, CLIENT_INTERNALS, {
      get(this: CampaignClient) {
        return #context in this ? createInternals(() => this.#context) : undefined
      },
    })
  }

  /**
   * @param options - Address, token and how calls behave. Environment variables are never read.
   * @throws ConfigurationError when an option is wrong; the message names each one, without its value.
   */
  constructor(options: CampaignClientOptions) {
    const own = copyOfClientOptions(options)
    const settings = clientSettings(own)
    this.#context = {
      settings,
      tokens: new AccessTokens(settings.accessToken, settings.warnsOfShortSecrets),
      transport: settings.transport ?? fetchTransport(settings.fetch),
      queue: new RequestQueue(settings.limits),
      addressHint: new AddressHint(settings.baseUrl),
    }
    this.#options = own
  }

  /**
   * Returns a client with other options: one for each tenant, token or team. It shares the transport and the limit of
   * requests in flight with this client; pauses and rates belong to a token. Given options replace those of this
   * client, except that a guard can only narrow, and `baseUrl` needs an `accessToken` with it. This client does not change.
   *
   * On a subclass it returns a plain `CampaignClient`; override it to return an instance of the subclass.
   *
   * @throws ConfigurationError when an option is wrong, or can't differ: `transport`, `fetch` and `limits` are shared.
   *
   * @example
   * ```ts
   * const cautious = client.with({ guard: { campaigns: ['demo'], maxXpPerAward: 500 }, maxRetries: 5 })
   * const { name } = await cautious.getCampaignInfo({ pid: 'demo' })
   * ```
   */
  with(options: DerivedClientOptions): CampaignClient {
    const { options: ownOptions, hasOwnToken } = derivedOptions(this.#options, options)
    const derived = newClient(ownOptions)
    const { transport, queue, tokens } = this.#context
    derived.#context = { ...derived.#context, transport, queue, ...(!hasOwnToken && { tokens }) }
    return derived
  }

  /**
   * Reads a user's progress in a campaign: every task, quest and challenge with the user's status, the rewards
   * earned, XP totals, rank and team.
   *
   * A retry is safe: the client retries after lost connections, timeouts, 408, 429, 500, 502, 503 and 504.
   * Interface: [GET /user/progress](/the-service#get-userprogress).
   *
   * @throws InvalidRequestError when an argument is wrong; nothing was sent.
   * @throws BadRequestError | UnauthorizedError | AccessDeniedError | RateLimitError | ServiceError | ApiError as the
   * service answers.
   * @throws UnexpectedResponseError when the answer has another shape.
   * @throws NetworkError | TimeoutError | AccessTokenError when there was no answer, or no token.
   *
   * @example
   * ```ts
   * const progress = await client.getUserProgress({ account: 'ada', platform: 'discord', pid: 'demo' })
   * const open = progress.actions.filter((task) => task.status === 'none')
   * console.log(progress.total, open.map((task) => task.id).join()) // → 1215 share,daily-visit,feedback
   * ```
   */
  getUserProgress(request: GetUserProgressRequest, options?: CallOptions): Promise<UserProgress> {
    return call(this.#context, 'getUserProgress', request, options)
  }

  /**
   * Awards XP to a wallet address. A new address is registered, and its campaign entry is created. The service then
   * sends a webhook message; its kind is not shown.
   *
   * `xp` may be any finite number: 0, negative numbers and fractions are sent. What the service does with them is not
   * shown.
   *
   * A retry is guarded: the service accepts each `id` once. After an error with `outcome: 'unknown'` you may call again
   * with the same `id`. If an attempt was applied and its answer was lost, the service refuses the retry, and the error
   * has `outcome: 'unknown'`.
   * Interface: [POST /wallet/reward](/the-service#post-walletreward).
   *
   * @throws InvalidRequestError when an argument is wrong, such as an `xp` that is not finite; nothing was sent.
   * @throws BadRequestError | UnauthorizedError | AccessDeniedError | RateLimitError | ServiceError | ApiError as the
   * service answers. How it refuses a used `id` is not shown; `BadRequestError` is assumed.
   * @throws NetworkError | TimeoutError | UnexpectedResponseError when the outcome may be unknown.
   * @throws AccessTokenError when the token source failed.
   *
   * @example
   * ```ts
   * const award = {
   *   address: '0x52908400098527886E0F7030069857D2E4169EE7',
   *   pid: 'demo',
   *   id: 'launch-party-2026',
   *   xp: 250,
   * }
   * await client.rewardWallet(award)
   * await client.rewardWallet(award).catch((error) => console.log(error.code)) // → bad_request
   * ```
   */
  rewardWallet(request: RewardWalletRequest, options?: CallOptions): Promise<void> {
    return call(this.#context, 'rewardWallet', request, options)
  }

  /**
   * Makes one user the referrer of another. Both are registered if they are new. The referred user must have no referrer
   * and no completed task. Whether the two users differ is checked by the service, not by the client.
   *
   * A retry is guarded: a user has one referrer. If a retry is refused after a lost answer, the error has
   * `outcome: 'unknown'`. Interface: [POST /user/referrer](/the-service#post-userreferrer).
   *
   * @returns The `data` of the answer: an empty object today.
   * @throws ReferralRejectedError when the service says `missing_user` or `self_referral_not_allowed`.
   * @throws InvalidRequestError when an argument is wrong; nothing was sent.
   * @throws BadRequestError | UnauthorizedError | AccessDeniedError | RateLimitError | ServiceError | ApiError as the
   * service answers.
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
    return call(this.#context, 'setReferrer', request, options)
  }

  /**
   * Updates a user's name, alias and team. The campaign entry is created if there is none. Fields left out are not sent.
   *
   * A retry is safe: it leads to the same final state. Interface: [POST /user](/the-service#post-user).
   *
   * @returns The `data` of the answer: an empty object today.
   * @throws InvalidRequestError when an argument is wrong; nothing was sent.
   * @throws BadRequestError | UnauthorizedError | AccessDeniedError | RateLimitError | ServiceError | ApiError as the
   * service answers.
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
    return call(this.#context, 'updateUser', request, options)
  }

  /**
   * Makes the owner of a referral link the referrer of a user. The campaign entry is created if there is none. The user
   * must have no referrer and no completed task. The link must exist and belong to another user.
   *
   * A retry is guarded: a user has one referrer. If a retry is refused after a lost answer, the error has
   * `outcome: 'unknown'`. Interface: [POST /user/ref_id](/the-service#post-userref_id).
   *
   * @returns The `data` of the answer: an empty object today.
   * @throws InvalidRequestError when an argument is wrong; nothing was sent.
   * @throws BadRequestError | UnauthorizedError | AccessDeniedError | RateLimitError | ServiceError | ApiError as the
   * service answers.
   * @throws NetworkError | TimeoutError | UnexpectedResponseError when the outcome may be unknown.
   * @throws AccessTokenError when the token source failed.
   *
   * @example
   * ```ts
   * await client.setReferrerByRefId({ account: 'hedy', platform: 'discord', pid: 'demo', ref_id: 'ref-ada' })
   * ```
   */
  setReferrerByRefId(request: SetReferrerByRefIdRequest, options?: CallOptions): Promise<AcceptedData> {
    return call(this.#context, 'setReferrerByRefId', request, options)
  }

  /**
   * Records a task with a numeric value for a user inside a quest.
   *
   * A retry is unsafe: it would count twice. The client retries only after a 429, or when its transport knows that the
   * request was never sent (`nodeTransport` does, `fetch` does not). After an error with `outcome: 'unknown'`, read the
   * progress before you call again.
   * Interface: [POST /action/value](/the-service#post-actionvalue).
   *
   * @throws InvalidRequestError when an argument is wrong, such as a `value` that is not finite; nothing was sent.
   * @throws ApiError or one of its subclasses as the service answers; which errors it gives here is not shown.
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
    return call(this.#context, 'recordActionValue', request, options)
  }

  /**
   * Reads the tasks and quests of a campaign, with their rewards and dependencies. `xp_mul` and `ref_xp`
   * are numbers here, though the service shows them as numeric strings.
   *
   * The name of the query parameter is assumed to be `pid`; `queryNames` changes it. How the development environment
   * is selected is not shown; `options.query` can send a selector. A retry is safe.
   * Interface: [GET /campaign/info](/the-service#get-campaigninfo).
   *
   * @throws InvalidRequestError when an argument is wrong; nothing was sent.
   * @throws ApiError or one of its subclasses as the service answers; which errors it gives here is not shown.
   * @throws UnexpectedResponseError when the answer has another shape.
   * @throws NetworkError | TimeoutError | AccessTokenError when there was no answer, or no token.
   *
   * @example
   * ```ts
   * const { actions } = await client.getCampaignInfo({ pid: 'demo' })
   * const share = actions.find((task) => task.id === 'share')
   * console.log(share?.xp, share?.xp_mul, share?.deps.join()) // → 30 1.5 follow
   * ```
   */
  getCampaignInfo(request: GetCampaignInfoRequest, options?: CallOptions): Promise<CampaignInfo> {
    return call(this.#context, 'getCampaignInfo', request, options)
  }

  /**
   * Reads a campaign's point totals and its current season.
   *
   * The name of the query parameter is assumed to be `pid`; `queryNames` changes it. A retry is safe.
   * Interface: [GET /campaign/points](/the-service#get-campaignpoints).
   *
   * @throws InvalidRequestError when an argument is wrong; nothing was sent.
   * @throws ApiError or one of its subclasses as the service answers; which errors it gives here is not shown.
   * @throws UnexpectedResponseError when the answer has another shape.
   * @throws NetworkError | TimeoutError | AccessTokenError when there was no answer, or no token.
   *
   * @example
   * ```ts
   * const { season_points, season } = await client.getCampaignPoints({ pid: 'demo' })
   * console.log(`${season_points} points in ${season.name}`) // → 265 points in Summer
   * ```
   */
  getCampaignPoints(request: GetCampaignPointsRequest, options?: CallOptions): Promise<CampaignPoints> {
    return call(this.#context, 'getCampaignPoints', request, options)
  }

  /**
   * Reads the accounts linked to a user, with the user's totals.
   *
   * The names of the query parameters are assumed to be `account`, `platform` and `pid`; `queryNames` changes them.
   * A retry is safe. Interface: [GET /user/profiles](/the-service#get-userprofiles).
   *
   * @throws InvalidRequestError when an argument is wrong; nothing was sent.
   * @throws BadRequestError | UnauthorizedError | AccessDeniedError | RateLimitError | ServiceError | ApiError as the
   * service answers.
   * @throws UnexpectedResponseError when the answer has another shape.
   * @throws NetworkError | TimeoutError | AccessTokenError when there was no answer, or no token.
   *
   * @example
   * ```ts
   * const { profiles } = await client.getUserProfiles({ account: 'ada', platform: 'discord', pid: 'demo' })
   * for (const { account, platform } of profiles) console.log(platform, account)
   * ```
   */
  getUserProfiles(request: GetUserProfilesRequest, options?: CallOptions): Promise<UserProfiles> {
    return call(this.#context, 'getUserProfiles', request, options)
  }

  /**
   * Reads who has used an invite code.
   *
   * The names of the query parameters are assumed to be `code` and `pid`; `queryNames` changes them. A retry is
   * safe. Interface: [GET /code](/the-service#get-code).
   *
   * @throws InvalidRequestError when an argument is wrong; nothing was sent.
   * @throws BadRequestError | UnauthorizedError | AccessDeniedError | RateLimitError | ServiceError | ApiError as the
   * service answers.
   * @throws UnexpectedResponseError when the answer has another shape.
   * @throws NetworkError | TimeoutError | AccessTokenError when there was no answer, or no token.
   *
   * @example
   * ```ts
   * const { used_by } = await client.getInviteCode({ code: 'WELCOME-2026', pid: 'demo' })
   * console.log(used_by.join()) // → ada,grace
   * ```
   */
  getInviteCode(request: GetInviteCodeRequest, options?: CallOptions): Promise<InviteCode> {
    return call(this.#context, 'getInviteCode', request, options)
  }

  /**
   * Registers a webhook. The path is not shown, so the client sends the request to `webhookRegistrationPath`. Without
   * that option the call fails before anything is sent.
   *
   * A retry is unsafe: it might register twice. The client retries only after a 429, or when its transport knows that the
   * request was never sent.
   * Interface: [Webhook registration](/the-service#webhook-registration).
   *
   * @returns The `data` of the answer, whose shape is not shown.
   * @throws ConfigurationError when `webhookRegistrationPath` is not set.
   * @throws InvalidRequestError when an argument is wrong; nothing was sent.
   * @throws ApiError or one of its subclasses as the service answers; which errors it gives here is not shown.
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
    return call(this.#context, 'registerWebhook', request, options)
  }
}

// Bundlers rename a class that refers to itself by name, and stack traces would show the new name.
const newClient = (options: CampaignClientOptions): CampaignClient => new CampaignClient(options)

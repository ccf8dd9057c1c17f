/** One of the edits that docs/design.md lists for a new endpoint: whole files, or text put into one. */
export interface Edit {
  /** As docs/design.md names the place. */
  readonly place: string
  readonly changes: readonly Change[]
}

interface Change {
  readonly file: string
  /** What the text is put in front of, at its last occurrence; the file is a new one where this is missing. */
  readonly before?: string
  readonly text: string
}

const ENDPOINT = `import * as z from 'zod/mini'
import { user } from '../schemas/fields.ts'
import { endpoint } from './endpoint.ts'

/** What \`getUserBadges\` asks for. Interface: [GET /user/badges](../../docs/the-service.md#get-userbadges). */
export interface GetUserBadgesRequest {
  /** Account identifier of the user. */
  account: string
  /** Platform where the account exists. */
  platform: string
  /** Campaign ID. */
  pid: string
}

/** Schema of {@link GetUserBadgesRequest}. */
export const getUserBadgesRequest = z.object(user)

/** A badge that a user has earned. Interface: [GET /user/badges](../../docs/the-service.md#get-userbadges). */
export type Badge = {
  /** Badge ID. */
  id: string
  /** Display name of the badge. */
  name: string
}

/** The badges of a user in a campaign. Interface: [GET /user/badges](../../docs/the-service.md#get-userbadges). */
export type UserBadges = {
  /** The user's account identifier. */
  user_id: string
  /** The badges, in the order they were earned. */
  badges: Badge[]
}

/** Schema of {@link Badge}. Unknown fields are kept. */
export const badge = z.looseObject({ id: z.string(), name: z.string() })

/** Schema of {@link UserBadges}. Unknown fields are kept. */
export const userBadges = z.looseObject({ user_id: z.string(), badges: z.array(badge) })

export default endpoint<GetUserBadgesRequest, UserBadges>({
  method: 'GET',
  path: 'user/badges',
  request: getUserBadgesRequest,
  response: userBadges,
  retry: 'safe',
})
`

const METHOD = `
  /**
   * Reads the badges of a user in a campaign.
   *
   * A retry is safe. Interface: [GET /user/badges](../docs/the-service.md#get-userbadges).
   *
   * @throws InvalidRequestError when an argument is wrong; nothing was sent.
   * @throws BadRequestError | UnauthorizedError | AccessDeniedError | ServiceError as the service answers.
   * @throws UnexpectedResponseError when the answer has another shape.
   * @throws NetworkError | TimeoutError | AccessTokenError when there was no answer, or nothing to ask with.
   *
   * @example
   * \`\`\`ts
   * const { badges } = await client.getUserBadges({ account: 'ada', platform: 'discord', pid: 'demo' })
   * console.log(badges.length) // → 1
   * \`\`\`
   */
  getUserBadges(request: GetUserBadgesRequest, options?: CallOptions): Promise<UserBadges> {
    return call(this.#context, 'getUserBadges', request, options)
  }
`

const RULE = `import { requireCampaign } from './campaign-access.ts'
import { requireEntry, requireUser } from './entry.ts'
import type { Rule } from './rule.ts'

export const getUserBadges: Rule<'getUserBadges'> = ({ account, platform, pid }, context) => {
  const entry = requireEntry(requireCampaign(pid, context), requireUser(account, platform, context))
  return { user_id: account, badges: entry.rewards.map(({ id, reward }) => ({ id, name: reward })) }
}
`

const ROW = `  getUserBadges: {
    method: 'GET',
    path: '/user/badges',
    fields: USER,
    retry: 'safe',
    errors: STANDARD_ERRORS,
    request: ADA,
    sent: '?account=ada&platform=discord&pid=demo',
    ...asItCame({ user_id: 'ada', badges: [{ id: 'badge-1', name: 'First steps' }] }),
  },
`

const SECTION = `### GET /user/badges

The badges of a user in a campaign. Method: [getUserBadges](methods/getUserBadges.md).

- **Query:** \`account\`, \`platform\`, \`pid\`; all three required.
- **Data:** \`user_id\`, and \`badges\`, an array of \`id\` and \`name\`, all strings.
- **Errors:** 400, 401, 403, 500.

`

/** Everything that is written by hand for a twelfth endpoint, \`GET /user/badges\`. */
export const edits: readonly Edit[] = [
  { place: 'endpoints/', changes: [{ file: 'src/endpoints/get-user-badges.ts', text: ENDPOINT }] },
  {
    place: 'client.ts',
    changes: [
      { file: 'src/client.ts', before: '  GetUserProfilesRequest,\n', text: '  GetUserBadgesRequest,\n' },
      { file: 'src/client.ts', before: '  UserProfiles,\n', text: '  UserBadges,\n' },
      { file: 'src/client.ts', before: '}\n', text: METHOD },
    ],
  },
  { place: 'testing/rules/', changes: [{ file: 'src/testing/rules/get-user-badges.ts', text: RULE }] },
  {
    place: 'test/contract/operations.ts',
    changes: [{ file: 'test/contract/operations.ts', before: '} as const satisfies Readonly', text: ROW }],
  },
  {
    place: 'docs/the-service.md',
    changes: [{ file: 'docs/the-service.md', before: '### Webhook registration\n', text: SECTION }],
  },
]

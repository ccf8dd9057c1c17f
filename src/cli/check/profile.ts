import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod/mini'
import { identityOf } from '../../shared/jwt.ts'
import { usageFailure } from '../failure.ts'
import { readJsonObject } from '../files.ts'

export type Result = 'as assumed' | 'differs' | "can't tell" | 'not asked'

const text = z.string().check(z.maxLength(1_000))
const names = z.record(text, text)

const profileSchema = z.object({
  version: z.literal(1),
  checkedAt: text.check(z.refine((date) => !Number.isNaN(Date.parse(date)), 'must be a date')),
  target: z.object({ address: text, issuer: z.nullable(text), subjectSha256: z.nullable(text) }),
  pid: text,
  client: z.object({
    queryNames: z.optional(
      z.partialRecord(z.enum(['getCampaignInfo', 'getCampaignPoints', 'getUserProfiles', 'getInviteCode']), names),
    ),
  }),
  award: z.object({
    walletPlatform: z.optional(text),
    listsRewards: z.optional(z.enum(['ids', 'ids_and_amounts'])),
  }),
  answers: z.array(
    z.object({
      question: text,
      result: z.enum(['as assumed', 'differs', "can't tell", 'not asked']),
      detail: z.optional(
        z.object({
          status: z.optional(z.number()),
          code: z.optional(z.union([z.number(), text])),
          form: z.optional(text),
          paths: z.optional(z.array(text)),
          count: z.optional(z.number()),
        }),
      ),
    }),
  ),
})

/** The results of `check`. Contains no token, account or other personal data. */
export type Profile = z.infer<typeof profileSchema>

export type Answer = Profile['answers'][number]

/** The service and the organization that a profile is for. */
export type Target = Profile['target']

const MAX_AGE_MS = 30 * 86_400_000

/** Returns the target of a token: its issuer, and a hash of its subject. */
export function targetOf(baseUrl: string, token: string): Target {
  const { issuer, subject } = identityOf(token)
  const subjectSha256 = subject === null ? null : createHash('sha256').update(subject).digest('hex')
  return { address: baseUrl, issuer, subjectSha256 }
}

/**
 * Reads a profile and checks that it belongs to the target.
 *
 * @param warn - called with a message when the profile is older than 30 days
 * @throws CommandFailure when the file is not a profile of this version, or belongs to another target or campaign
 */
export async function readProfile(
  file: string,
  target: Target,
  pid: string | undefined,
  warn: (message: string) => void,
): Promise<Profile> {
  const content = await readJsonObject(file)
  const advice = 'save a new one with `check --save`'
  if (content.version !== 1) throw usageFailure(`"${file}" is not a profile of version 1`, advice)
  const parsed = profileSchema.safeParse(content)
  if (!parsed.success) {
    const path = parsed.error.issues[0]?.path.join('.') || 'the file'
    throw usageFailure(`"${file}" is a damaged profile: ${path} is wrong`, advice)
  }
  const profile = parsed.data
  if (profile.target.address !== target.address)
    throw usageFailure(`"${file}" is a profile of another base URL`, advice)
  if (!isDeepStrictEqual(profile.target, target)) {
    throw usageFailure(`"${file}" is a profile of another token, with another issuer or subject`, advice)
  }
  if (pid !== undefined && pid !== profile.pid) throw usageFailure(`"${file}" is a profile of another campaign`, advice)
  const ageMs = Date.now() - Date.parse(profile.checkedAt)
  if (ageMs < -86_400_000) {
    warn(`"${file}" was made in the future, at ${profile.checkedAt}: correct the clock, or run check again`)
  }
  if (ageMs > MAX_AGE_MS) warn(`"${file}" is ${Math.floor(ageMs / 86_400_000)} days old: run check again`)
  return profile
}

/** Returns the answer to a question. */
export const answerOf = ({ answers }: Profile, id: string): Answer | undefined =>
  answers.find(({ question }) => question === id)

/** Returns whether the service answered a question. */
export const isAnswered = (answer: Answer | undefined): answer is Answer =>
  answer?.result === 'as assumed' || answer?.result === 'differs'

/** Returns the fields that differ between two profiles: ids of questions, `'client.queryNames'` or `'award'`. */
export function changesBetween(earlier: Profile, now: Profile): string[] {
  const changed = now.answers.filter(({ question, result }) => {
    const before = answerOf(earlier, question)
    if (!isAnswered(before) || question.startsWith('timing.')) return false
    return result !== 'not asked' && result !== before.result
  })
  const hasNames = now.answers.some((answer) => answer.question.startsWith('names.') && isAnswered(answer))
  const hasAward = isAnswered(answerOf(now, 'writes.wallet-platform'))
  return [
    ...changed.map(({ question }) => question),
    ...(hasNames && !isDeepStrictEqual(earlier.client, now.client) ? ['client.queryNames'] : []),
    ...(hasAward && !isDeepStrictEqual(earlier.award, now.award) ? ['award'] : []),
  ]
}

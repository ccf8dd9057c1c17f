import { EXIT, type ExitCode } from '../exit-codes.ts'
import { ADVICE, adviceOnError, CommandFailure } from '../failure.ts'
import { isReply } from './probe.ts'
import { type Answer, answerOf, changesBetween, isAnswered, type Profile, type Target } from './profile.ts'
import { type Check, type CheckArguments, type CheckFinding, describeReply, type Question } from './question.ts'
import { access, tokenQuestion } from './questions/access.ts'
import { campaign } from './questions/campaign.ts'
import { errors } from './questions/errors.ts'
import { names } from './questions/names.ts'
import { shapes } from './questions/shapes.ts'
import { timing } from './questions/timing.ts'
import { isOutcomeUnknown, writes } from './questions/writes.ts'

const QUESTIONS: readonly Question[] = [...access, ...shapes, ...errors, ...names, ...campaign, ...timing, ...writes]

/** A question with its result. */
export interface AnsweredQuestion {
  readonly question: Question
  readonly finding: CheckFinding
}

/**
 * Asks all questions whose arguments are given, then judges the answers. The token question is asked last and returned first:
 * see {@link tokenQuestion}.
 */
export async function runCheck(check: Check): Promise<readonly AnsweredQuestion[]> {
  const asked = new Map<Question, unknown>()
  for (const question of [...QUESTIONS, tokenQuestion]) {
    if (missingFlags(question, check.args).length === 0) asked.set(question, await question.ask?.(check))
  }
  return [tokenQuestion, ...QUESTIONS].map((question) => {
    if (asked.has(question)) return { question, finding: question.judge(check, asked.get(question)) }
    const note = `needs ${missingFlags(question, check.args).join(', ')}`
    return { question, finding: { result: 'not asked', note } }
  })
}

const missingFlags = ({ needs = [] }: Question, args: CheckArguments): readonly string[] =>
  needs.filter((name) => !args[name]).map((name) => (name === 'allowWrites' ? '--allow-writes' : `--${name}`))

/** The results of a run. */
export interface CheckResult {
  readonly profile: Profile
  /** The fields that differ from the earlier profile: IDs of questions, `'client.queryNames'` or `'award'`. */
  readonly changes: readonly string[]
  readonly exitCode: ExitCode
  /** Set if no read worked: the answers then mean nothing. */
  readonly failure?: CommandFailure | undefined
}

/** Turns the answers of a run into a profile, compares it with an earlier profile, and decides the exit code. */
export function resultOf(
  check: Check,
  answered: readonly AnsweredQuestion[],
  target: Target,
  earlier: Profile | undefined,
): CheckResult {
  let award = check.awards.shown ?? {}
  const answers = answered.map(({ question, finding: { result, detail } }): Answer => {
    const before = earlier && answerOf(earlier, question.id)
    // Only the first award to a wallet can answer the `writes` questions. Later runs copy those answers.
    if (isAnswered(before) && writes.includes(question) && result === "can't tell") {
      award = { ...earlier?.award, ...award }
      return before
    }
    return { question: question.id, result, ...(detail && { detail }) }
  })
  const profile: Profile = {
    version: 1,
    checkedAt: new Date().toISOString(),
    target,
    pid: check.args.pid,
    client: check.queryNames.size > 0 ? { queryNames: Object.fromEntries(check.queryNames) } : {},
    award,
    answers,
  }
  const changes = earlier === undefined ? [] : changesBetween(earlier, profile)
  const failure = failureOf(check)
  const hasDifference = changes.length > 0 || answers.some(({ result }) => result === 'differs')
  const exitCode = isOutcomeUnknown(check)
    ? EXIT.unknownOutcome
    : (failure?.exitCode ?? (hasDifference ? EXIT.incomplete : EXIT.done))
  return { profile, changes, exitCode, failure }
}

/** The failure of a run in which no read worked: the token or the campaign is refused, or the service is unreachable. */
function failureOf({ reads, probe, args }: Check): CommandFailure | undefined {
  const { baseUrl } = probe.options
  const fail = (exitCode: ExitCode, code: string, message: string, advice = ADVICE[code]): CommandFailure =>
    new CommandFailure(exitCode, code, message, { advice, result: { exitCode } })
  if (probe.isTokenRefused) return fail(EXIT.refused, 'unauthorized', `${baseUrl} refused the token: HTTP 401`)
  const outcomes = [...reads.values()]
  const replies = outcomes.filter(isReply)
  const [refusal] = replies
  if (refusal !== undefined) {
    if (replies.some(({ kind, status }) => status < 300 && kind !== 'error')) return undefined
    const isHtml = refusal.status === 403 && (refusal.header('content-type') ?? '').includes('html')
    const by = isHtml ? ' (the body is HTML, so probably a gateway in front of the service refused it)' : ''
    const refused = `every read${by} of the campaign ${JSON.stringify(args.pid)}`
    const message = `${baseUrl} refused ${refused}: ${describeReply(refusal)}`
    if (refusal.status === 403) return fail(EXIT.refused, 'access_denied', message)
    return fail(
      EXIT.refused,
      'api_error',
      message,
      'check CAMPAIGN_BASE_URL, which ends in /api/v1, and the campaign ID',
    )
  }
  const [noReply] = outcomes
  const { status, reason = 'no response', systemCode } = noReply?.kind === 'no reply' ? noReply : {}
  if (status === 429) return fail(EXIT.refused, 'rate_limited', `${baseUrl} limited the rate: HTTP 429`)
  if (status !== undefined) {
    return fail(EXIT.unreachable, 'service_error', `${baseUrl} gave no usable response: ${reason}`, ADVICE.network)
  }
  const advice = adviceOnError({ code: 'network', systemCode }, baseUrl)
  return fail(EXIT.unreachable, 'network', `${baseUrl} cannot be reached: ${reason}`, advice)
}

import { isDeepStrictEqual } from 'node:util'
import { EXIT, type ExitCode } from '../failure.ts'
import type { Profile, Target } from './profile.ts'
import type { Check } from './question.ts'
import { isOutcomeUnknown, writes } from './questions/writes.ts'
import type { AnsweredQuestion } from './run-check.ts'

/** The results of a run. */
export interface Conclusion {
  readonly profile: Profile
  /** The fields that differ from the earlier profile: IDs of questions, `'client.queryNames'` or `'award'`. */
  readonly changes: readonly string[]
  readonly exitCode: ExitCode
}

type Answer = Profile['answers'][number]

/** Turns the answers of a run into a profile, compares it with an earlier profile, and decides the exit code. */
export function conclude(
  check: Check,
  answered: readonly AnsweredQuestion[],
  target: Target,
  earlier: Profile | undefined,
): Conclusion {
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
  return { profile, changes, exitCode: exitCodeOf(check, answers, changes) }
}

const answerOf = ({ answers }: Profile, id: string): Answer | undefined =>
  answers.find(({ question }) => question === id)

const isAnswered = (answer: Answer | undefined): answer is Answer =>
  answer?.result === 'as assumed' || answer?.result === 'differs'

function changesBetween(earlier: Profile, now: Profile): string[] {
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

function exitCodeOf(check: Check, answers: readonly Answer[], changes: readonly string[]): ExitCode {
  if (isOutcomeUnknown(check)) return EXIT.unknownOutcome
  if (check.probe.isTokenRefused) return EXIT.refused
  const isReached = answers.some(
    (answer) => /^(?:access\.address|shapes\.)/.test(answer.question) && isAnswered(answer),
  )
  if (!isReached) return EXIT.unreachable
  return changes.length > 0 || answers.some(({ result }) => result === 'differs') ? EXIT.incomplete : EXIT.done
}

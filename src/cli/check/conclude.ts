import { EXIT, type ExitCode } from '../failure.ts'
import type { Profile, Target } from './profile.ts'
import type { Check } from './question.ts'
import type { Answered } from './run-check.ts'
import { awardProfileOf, FIRST_AWARD_QUESTIONS, isOutcomeUnknown } from './writes.ts'

/** What a run comes to. */
export interface Conclusion {
  readonly profile: Profile
  /** The questions whose results differ from the earlier profile, and `queryNames` or `award` where these differ. */
  readonly changes: readonly string[]
  readonly exitCode: ExitCode
}

/** Turns the answers of a run into a profile, compares it with an earlier one, and decides the exit code. */
export function conclude(
  check: Check,
  answered: readonly Answered[],
  target: Target,
  earlier: Profile | undefined,
): Conclusion {
  const { answers, award } = carryOver(check, answered, earlier)
  const queryNames = Object.fromEntries(check.queryNames)
  const profile: Profile = {
    version: 1,
    checkedAt: new Date().toISOString(),
    target,
    pid: check.args.pid,
    client: check.queryNames.size > 0 ? { queryNames } : {},
    award,
    answers,
  }
  const changes = earlier === undefined ? [] : changesBetween(earlier, profile)
  return { profile, changes, exitCode: exitCodeOf(check, answers, changes) }
}

/** Only the first award shows some answers: later runs take them from the earlier profile. */
function carryOver(
  check: Check,
  answered: readonly Answered[],
  earlier: Profile | undefined,
): Pick<Profile, 'answers' | 'award'> {
  let award = awardProfileOf(check)
  const answers = answered.map(
    ({ question: { id: question }, finding: { result, detail } }): Profile['answers'][number] => {
      const before = earlier?.answers.find((answer) => answer.question === question)
      if (before && isAnswered(before) && FIRST_AWARD_QUESTIONS.has(question) && result === "can't tell") {
        award = { ...earlier?.award, ...award }
        return before
      }
      return { question, result, ...(detail && { detail }) }
    },
  )
  return { answers, award }
}

const isAnswered = ({ result }: Profile['answers'][number]): boolean => result === 'as assumed' || result === 'differs'

function changesBetween(earlier: Profile, now: Profile): string[] {
  const changed = now.answers.filter(({ question, result }) => {
    const before = earlier.answers.find((answer) => answer.question === question)
    if (before === undefined || !isAnswered(before) || question.startsWith('timing.')) return false
    return result !== 'not asked' && result !== before.result
  })
  const isKnown = (question: string): boolean =>
    now.answers.some((answer) => answer.question.startsWith(question) && isAnswered(answer))
  const hasOtherNames = isKnown('names.') && !isSame(earlier.client.queryNames ?? {}, now.client.queryNames ?? {})
  const hasOtherAward = isKnown('writes.wallet-platform') && !isSame(earlier.award, now.award)
  return [
    ...changed.map(({ question }) => question),
    ...(hasOtherNames ? ['client.queryNames'] : []),
    ...(hasOtherAward ? ['award'] : []),
  ]
}

/** Compares two objects of strings, or of objects of strings, whatever the order of their fields. */
const isSame = (one: object, other: object): boolean => sorted(one) === sorted(other)
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null ? Object.fromEntries(Object.entries(each).sort()) : each,
  )

function exitCodeOf(check: Check, answers: Profile['answers'], changes: readonly string[]): ExitCode {
  if (isOutcomeUnknown(check)) return EXIT.unknownOutcome
  if (check.probe.tokenRefused) return EXIT.refused
  const isReached = answers.some(
    (answer) => /^(?:access\.address|shapes\.)/.test(answer.question) && isAnswered(answer),
  )
  if (!isReached) return EXIT.unreachable
  return changes.length > 0 || answers.some(({ result }) => result === 'differs') ? EXIT.notAll : EXIT.done
}

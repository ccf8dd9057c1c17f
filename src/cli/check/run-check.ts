import { access, tokenQuestion } from './access.ts'
import { campaign } from './campaign.ts'
import { errors } from './errors.ts'
import { names } from './names.ts'
import type { Check, CheckArguments, Finding, Group, Question } from './question.ts'
import { shapes } from './shapes.ts'
import { timing } from './timing.ts'
import { writes } from './writes.ts'

/** The groups in the order in which they are asked. */
const GROUPS: readonly Group[] = [access, shapes, errors, names, campaign, timing, writes]

/** One question with what it found. */
export interface Answered {
  readonly group: string
  readonly question: Question
  readonly finding: Finding
}

/**
 * Asks all questions whose arguments are given, and judges them once everything was asked.
 *
 * @returns the question of the token first, then the others in their order
 */
export async function runCheck(check: Check, onQuestion: (question: Question) => void): Promise<readonly Answered[]> {
  const isAsked = (question: Question): boolean => missingFlags(question, check.args).length === 0
  for (const question of [...GROUPS.flatMap(({ questions }) => questions), tokenQuestion]) {
    if (question.ask === undefined || !isAsked(question)) continue
    onQuestion(question)
    await question.ask(check)
  }
  const answer = (group: string, question: Question): Answered => {
    const flags = missingFlags(question, check.args)
    const finding: Finding =
      flags.length > 0 ? { result: 'not asked', note: `needs ${flags.join(', ')}` } : question.judge(check)
    return { group, question, finding }
  }
  const others = GROUPS.flatMap(({ title, questions }) => questions.map((question) => answer(title, question)))
  return [answer(access.title, tokenQuestion), ...others]
}

const missingFlags = ({ needs = [] }: Question, args: CheckArguments): readonly string[] =>
  needs.filter((name) => !args[name]).map((name) => (name === 'allowWrites' ? '--allow-writes' : `--${name}`))

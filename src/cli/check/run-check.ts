import { access, tokenQuestion } from './access.ts'
import { campaign } from './campaign.ts'
import { errors } from './errors.ts'
import { names } from './names.ts'
import type { Check, CheckArguments, Finding, Question } from './question.ts'
import { shapes } from './shapes.ts'
import { timing } from './timing.ts'
import { writes } from './writes.ts'

const QUESTIONS: readonly Question[] = [...access, ...shapes, ...errors, ...names, ...campaign, ...timing, ...writes]

/** One question with its result. */
export interface Answered {
  readonly question: Question
  readonly finding: Finding
}

/**
 * Asks all questions whose arguments are given, the question of the token last. Judges them after everything was asked.
 *
 * @returns the question of the token first, then the others in their order
 */
export async function runCheck(check: Check): Promise<readonly Answered[]> {
  const answers = new Map<Question, unknown>()
  for (const question of [...QUESTIONS, tokenQuestion]) {
    if (missingFlags(question, check.args).length === 0) answers.set(question, await question.ask?.(check))
  }
  return [tokenQuestion, ...QUESTIONS].map((question) => {
    if (answers.has(question)) return { question, finding: question.judge(check, answers.get(question)) }
    const note = `needs ${missingFlags(question, check.args).join(', ')}`
    return { question, finding: { result: 'not asked', note } }
  })
}

const missingFlags = ({ needs = [] }: Question, args: CheckArguments): readonly string[] =>
  needs.filter((name) => !args[name]).map((name) => (name === 'allowWrites' ? '--allow-writes' : `--${name}`))

import type { Check, CheckArguments, Finding, Question } from './question.ts'
import { access, tokenQuestion } from './questions/access.ts'
import { campaign } from './questions/campaign.ts'
import { errors } from './questions/errors.ts'
import { names } from './questions/names.ts'
import { shapes } from './questions/shapes.ts'
import { timing } from './questions/timing.ts'
import { writes } from './questions/writes.ts'

const QUESTIONS: readonly Question[] = [...access, ...shapes, ...errors, ...names, ...campaign, ...timing, ...writes]

/** A question with its result. */
export interface AnsweredQuestion {
  readonly question: Question
  readonly finding: Finding
}

/**
 * Asks all questions whose arguments are given, the token question last. Then judges the answers.
 * Returns the token question first.
 */
export async function runCheck(check: Check): Promise<readonly AnsweredQuestion[]> {
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

import { bold, dim, green, type Part, yellow } from '../output.ts'
import type { Result } from './profile.ts'
import type { AnsweredQuestion } from './run-check.ts'

const WIDTH = "can't tell".length

const coloured = (result: Result): Part => {
  const padded = result.padEnd(WIDTH)
  return result === 'as assumed' ? green(padded) : result === 'differs' ? yellow(padded) : dim(padded)
}

/** Prints the results by group, with advice for each difference. */
export function printTable(
  answered: readonly AnsweredQuestion[],
  changes: readonly string[],
  line: (...parts: Part[]) => void,
): void {
  let lastGroup = ''
  for (const { question, finding } of answered) {
    const [group = ''] = question.id.split('.')
    if (group !== lastGroup) line(bold(group))
    lastGroup = group
    const { result, note = '', advice } = finding
    const text = result === 'as assumed' ? [question.assumed, note].filter((part) => part !== '').join(', ') : note
    const assumed = result === 'differs' ? ` (assumed: ${question.assumed})` : ''
    const changed = changes.includes(question.id) ? '  changed' : ''
    line('  ', coloured(result), '  ', question.text, ': ', text, dim(assumed), yellow(changed))
    if (advice) line(' '.repeat(WIDTH + 4), dim('↳ '), advice)
  }
  const count = (result: Result): number => answered.filter(({ finding }) => finding.result === result).length
  line(
    `${count('as assumed')} as assumed, ${count('differs')} differs, ${count("can't tell")} can't tell, `,
    `${count('not asked')} not asked`,
  )
  if (changes.length > 0) line(yellow('changed since the profile was saved: '), changes.join(', '))
}

import { bold, dim, green, type Part, yellow } from '../output.ts'
import type { Result } from './profile.ts'
import type { Answered } from './run-check.ts'

const WIDTH = "can't tell".length

const coloured = (result: Result): Part => {
  const padded = result.padEnd(WIDTH)
  return result === 'as assumed' ? green(padded) : result === 'differs' ? yellow(padded) : dim(padded)
}

/** Prints the answers by group, with what to do about each difference. */
export function printTable(
  answered: readonly Answered[],
  changes: readonly string[],
  line: (...parts: Part[]) => void,
): void {
  let group = ''
  for (const { group: title, question, finding } of answered) {
    if (title !== group) line(bold(title))
    group = title
    const { result, note = '', advice } = finding
    const isAssumed = result === 'as assumed'
    const parts = isAssumed ? [question.assumed, note].filter((part) => part !== '').join(', ') : note
    const assumed = result === 'differs' ? ` (assumed: ${question.assumed})` : ''
    const isChanged = changes.includes(question.id)
    line('  ', coloured(result), '  ', question.text, ': ', parts, dim(assumed), isChanged ? yellow('  changed') : '')
    if (advice) line(' '.repeat(WIDTH + 4), dim('↳ '), advice)
  }
  const count = (result: Result): number => answered.filter(({ finding }) => finding.result === result).length
  line(
    `${count('as assumed')} as assumed, ${count('differs')} differs, ${count("can't tell")} can't tell, `,
    `${count('not asked')} not asked`,
  )
  if (changes.length > 0) line(yellow('changed since the profile: '), changes.join(', '))
}

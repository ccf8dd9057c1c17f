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
    const isChanged = changes.includes(question.id)
    const note = finding.note === undefined ? '' : `  ${finding.note}`
    line('  ', coloured(finding.result), '  ', question.text, dim(note), isChanged ? yellow('  changed') : '')
    if (finding.result !== 'differs') continue
    line(' '.repeat(WIDTH + 4), dim('assumed: '), question.assumed)
    if (finding.advice) line(' '.repeat(WIDTH + 4), dim('↳ '), finding.advice)
  }
  const count = (result: Result): number => answered.filter(({ finding }) => finding.result === result).length
  line(
    `${count('as assumed')} as assumed, ${count('differs')} differ, ${count("can't tell")} can't tell, `,
    `${count('not asked')} not asked`,
  )
  if (changes.length > 0) line(yellow('changed since the profile: '), changes.join(', '))
}

import { bold, dim, type Part, yellow } from '../output.ts'
import type { LedgerFacts } from './ledger-facts.ts'
import type { CheckedList } from './list.ts'
import { counted, some } from './words.ts'

/** What a run is about to do. */
export interface Plan {
  readonly list: CheckedList
  readonly facts: LedgerFacts
  readonly ledger: string
  readonly run: string
  /** Where the awards go; absent where nothing will be sent. */
  readonly baseUrl: string | undefined
}

/** The plan, for `--json` and reports. */
export const planFields = ({ list, facts, ledger, run, baseUrl }: Plan): Record<string, unknown> => ({
  file: list.file.name,
  sha256: list.file.sha256,
  ...(baseUrl !== undefined && { baseUrl }),
  ledger,
  run,
  plan: {
    rows: list.lines.length,
    awards: list.awards.size,
    wallets: list.wallets,
    xp: list.xp,
    campaigns: [...list.pids].slice(0, MOST_CAMPAIGNS),
    ...facts,
  },
})

const MOST_CAMPAIGNS = 100

/** What a run is about to do, for people. */
export function planLines({ list, facts, ledger, run, baseUrl }: Plan): Part[][] {
  const { awardedBefore, done, inDoubt, toSend } = facts
  const told: Part[][] = [[bold(list.file.name), baseUrl === undefined ? '' : dim(`  → ${baseUrl}`)]]
  const line = (name: string, ...parts: Part[]) => told.push([dim(`  ${name.padEnd(10)}`), ...parts])
  line('campaign', firstOf([...list.pids]))
  line('list', `${some(list.lines.length, 'row')}, ${some(list.wallets, 'wallet')}, ${counted(list.xp)} XP`)
  const duplicates = list.lines.length - list.awards.size
  if (duplicates > 0) line('', `${some(duplicates, 'row')} the same as one before: each award is made once`)
  if (list.unused.length > 0) line('', dim(`columns that are not read: ${firstOf(list.unused)}`))
  line('ledger', ledger, dim(`  run ${run}`))
  if (done.awards > 0) {
    const rejected =
      done.rejected > 0 ? `; ${counted(done.rejected)} of them rejected: --retry-rejected sends these again` : ''
    line('', `${some(done.awards, 'award')} done before, ${counted(done.xp)} XP${rejected}`)
  }
  if (inDoubt > 0) line('', `${some(inDoubt, 'award')} in doubt: sent again under the same id`)
  line('to send', bold(`${some(toSend.awards, 'award')}, ${some(toSend.wallets, 'wallet')}, ${counted(toSend.xp)} XP`))
  if (awardedBefore.wallets === 0) return told
  line('', yellow(`${some(awardedBefore.wallets, 'wallet')} awarded in this campaign before, under another id:`))
  for (const { address, xp, at } of awardedBefore.examples) line('', `${address}  ${counted(xp)} XP`, dim(`  ${at}`))
  if (awardedBefore.wallets > awardedBefore.examples.length) line('', '…')
  line('', 'Has a reason or an id been edited? They would be paid twice.')
  return told
}

const MOST_SHOWN = 5

const firstOf = (names: readonly string[]): string =>
  names.slice(0, MOST_SHOWN).join(', ') +
  (names.length > MOST_SHOWN ? ` and ${counted(names.length - MOST_SHOWN)} more` : '')

import { existsSync } from 'node:fs'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { type LedgerEntry, readLedger, type Verdict } from 'campaign-client/bulk'
import {
  comparableAddress,
  isFinal,
  isRetryableRejection,
  isSameAward,
  isUnknown,
  isUsedBefore,
  VERDICTS,
  walletKey,
} from '../../shared/award.ts'
import { addDecimals } from '../../shared/decimals.ts'
import { bold, dim, type Part, yellow } from '../output.ts'
import type { Asked } from './ask-service.ts'
import { formatCount, formatNames, formatNumber, formatWere, formatXp } from './format.ts'
import {
  type AwardList,
  awardsById,
  lookAlikeInLedger,
  MAX_SHOWN,
  problemFields,
  problemLines,
  rowsByVisibleId,
  sha256Of,
  sortedProblems,
  type Text,
  type Totals,
  totalsOf,
} from './list.ts'
import { type Elsewhere, NOTHING_ELSEWHERE } from './other-ledgers.ts'
import type { ListProblem, ListRow } from './read-row.ts'

interface PlanOptions {
  /** The path of the ledger. */
  readonly ledger: string
  /** The name of the run in the ledger. */
  readonly run: string
  /** The base URL of the service; `undefined` in a dry run. */
  readonly baseUrl: string | undefined
  readonly retryRejected: boolean
}

/** A list of awards, compared with its ledger. */
export interface Plan extends PlanOptions {
  readonly list: AwardList
  readonly sha256: string
  /** The rows that contradict the ledger. */
  readonly problems: readonly ListProblem[]
  /** Similar awards in other ledgers of the folder, if this ledger has no awards. */
  readonly elsewhere: Elsewhere
  /** `undefined` if the service was not asked: without a base URL and token, or if there is nothing to send. */
  readonly asked?: Asked
  /** The awards of the ledger, even those that are not in the list. */
  readonly recorded: { readonly awards: number; readonly firstAt?: string; readonly lastAt?: string }
  readonly pids: readonly string[]
  /** Counts each award once. */
  readonly total: Totals
  /** The rows that are identical to an earlier row, and the XP that they would add to the total. */
  readonly repeated: { readonly rows: number; readonly xp: number }
  /** The verdicts that the ledger has for awards of the list, by id. */
  readonly verdicts: ReadonlyMap<string, Verdict>
  /** The ids of the list that were used before this ledger: no attempt of it explains why the service refused them. */
  readonly usedBefore: ReadonlySet<string>
  readonly toSend: Totals
  /** Wallets with an earlier award in the same campaign, under an id that is not in the list. */
  readonly awardedBefore: { readonly wallets: number; readonly examples: readonly LedgerEntry[] }
  /** Addresses to send to whose letter case contradicts their checksum. */
  readonly wrongChecksums: { readonly wallets: number; readonly examples: readonly ListRow[] }
}

/** Compares a list with its ledger. */
export async function makePlan(list: AwardList, options: PlanOptions): Promise<Plan> {
  const { ledger, run, baseUrl, retryRejected } = options
  const verdicts = new Map<string, Verdict>()
  const usedBefore = new Set<string>()
  /** The ids of awards that must not be sent again. */
  const done = new Set<string>()
  /** The awards of the ledger whose ids are not in the list, by wallet and campaign. */
  const notInList = new Map<string, LedgerEntry>()
  const problems: ListProblem[] = []
  const lookAlikes = rowsByVisibleId(list)
  const alike = new Set<Text>()
  let awards = 0
  let firstAt: string | undefined
  let lastAt: string | undefined

  for await (const entry of entriesOf(ledger)) {
    const { id, address, pid, xp, verdict, error, at } = entry
    awards++
    if (firstAt === undefined || at < firstAt) firstAt = at
    if (lastAt === undefined || at > lastAt) lastAt = at
    for (const text of lookAlikes.get(id) ?? []) alike.add(text)
    const row = list.awards.get(id)
    if (row === undefined) {
      if (verdict !== 'rejected') notInList.set(walletKey(entry), entry)
    } else if (!isSameAward(row, entry)) {
      const message = `the ledger has another award with the id of this row: ${address}, campaign ${pid}, ${xp} XP`
      problems.push({ rule: 'ledger', line: row.line, message })
    } else {
      verdicts.set(id, verdict)
      if (isUsedBefore(verdict, error)) usedBefore.add(id)
      const isRetried = retryRejected && isRetryableRejection(verdict, error)
      if (isFinal(verdict) && !isRetried) done.add(id)
    }
  }

  // A row that was sent before keeps its id.
  problems.push(...[...alike].filter(({ row }) => !verdicts.has(row.id)).map(lookAlikeInLedger))
  const rows = [...list.awards.values()]
  const toSend = rows.filter(({ id }) => !done.has(id))
  return {
    ledger,
    run,
    baseUrl,
    retryRejected,
    list,
    sha256: sha256Of(list),
    problems,
    elsewhere: NOTHING_ELSEWHERE,
    recorded: { awards, ...(firstAt !== undefined && { firstAt }), ...(lastAt !== undefined && { lastAt }) },
    pids: [...new Set(rows.map(({ pid }) => pid))],
    total: totalsOf(rows),
    repeated: repeatedRows(list),
    verdicts,
    usedBefore,
    toSend: totalsOf(toSend),
    awardedBefore: awardedBefore(toSend, notInList),
    wrongChecksums: wrongChecksums(toSend),
  }
}

/** Reads the entries of a list's awards from its ledger, by id. */
export async function recordedEntries({ list, ledger }: Pick<Plan, 'list' | 'ledger'>) {
  const entries = new Map<string, LedgerEntry>()
  for await (const entry of entriesOf(ledger)) if (list.awards.has(entry.id)) entries.set(entry.id, entry)
  return entries
}

/** Reads the entries of a ledger. Yields none if the file does not exist. */
export async function* entriesOf(ledger: string): AsyncGenerator<LedgerEntry> {
  if (existsSync(ledger)) yield* readLedger(ledger)
}

/** Returns whether an award of the list has an unknown outcome in the ledger. */
export const hasUnknownOutcome = ({ verdicts }: Plan): boolean => [...verdicts.values()].some(isUnknown)

const RECORDED = [...VERDICTS, 'usedBefore'] as const

/** Counts the awards of some rows by their verdict in the ledger. Ids that were used before are counted apart. */
export function recordedTotals({ verdicts, usedBefore, list }: Plan, rows: readonly ListRow[]) {
  // Repeated rows are one award: count the first row.
  const firsts = rows.filter((row) => list.awards.get(row.id) === row)
  const groups = Map.groupBy(firsts, ({ id }) => (usedBefore.has(id) ? 'usedBefore' : verdicts.get(id)))
  const totals = RECORDED.map((name) => [name, totalsOf(groups.get(name) ?? [])])
  return Object.fromEntries(totals) as Readonly<Record<(typeof RECORDED)[number], Totals>>
}

function repeatedRows({ rows, awards }: AwardList): Plan['repeated'] {
  const { awards: count, xp } = totalsOf(rows.filter((row) => awards.get(row.id) !== row))
  return { rows: count, xp }
}

const MAX_EXAMPLES = 3

function awardedBefore(toSend: readonly ListRow[], notInList: ReadonlyMap<string, LedgerEntry>): Plan['awardedBefore'] {
  const found = new Map<string, LedgerEntry>()
  for (const row of toSend) {
    const other = notInList.get(walletKey(row))
    if (other !== undefined) found.set(comparableAddress(row.address), other)
  }
  return { wallets: found.size, examples: [...found.values()].slice(0, MAX_EXAMPLES) }
}

function wrongChecksums(toSend: readonly ListRow[]): Plan['wrongChecksums'] {
  const byAddress = new Map(toSend.map((row) => [row.address, row]))
  const found = [...byAddress.values()].filter(({ address }) => hasWrongChecksum(address))
  return { wallets: found.length, examples: found.slice(0, MAX_EXAMPLES) }
}

const dayOf = (at: string): string => at.slice(0, 'YYYY-MM-DD'.length)

/** Describes what the ledger has: nothing, or awards of one or several days. */
function ledgerText({ recorded: { awards, firstAt = '', lastAt = '' } }: Plan): string {
  if (awards === 0) return 'new'
  const [first, last] = [firstAt, lastAt].map(dayOf)
  return `${formatCount(awards, 'award')} ${first === last ? `of ${first}` : `from ${first} to ${last}`}`
}

const MAX_CAMPAIGNS = 100

/** The plan as fields, for `--json` and reports. */
export function planFields(plan: Plan): Record<string, unknown> {
  const { list, sha256, pids, total, ledger, run, baseUrl, toSend, awardedBefore, wrongChecksums } = plan
  const recorded = recordedTotals(plan, list.rows)
  const suspects = wrongChecksums.examples.map(({ line, address }) => ({ line, address }))
  return {
    file: list.name,
    sha256,
    ...(baseUrl !== undefined && { baseUrl }),
    ledger,
    run,
    plan: {
      rows: list.rows.length,
      ...total,
      repeated: plan.repeated,
      skipped: { rows: list.skipped.rows, ...problemFields(list.skipped.problems) },
      campaigns: pids.slice(0, MAX_CAMPAIGNS),
      inLedger: plan.recorded,
      recorded,
      toSend,
      awardedBefore,
      elsewhere: plan.elsewhere,
      ...(plan.asked && { asked: plan.asked }),
      wrongChecksums: { wallets: wrongChecksums.wallets, examples: suspects },
    },
  }
}

/** Formats a plan in lines of at most 80 columns, unless a name is long. */
export function planLines(plan: Plan): Part[][] {
  const { list, sha256, pids, total, repeated, ledger, run, baseUrl, toSend } = plan
  const { awardedBefore, elsewhere, asked, wrongChecksums } = plan
  const lines: Part[][] = [
    [bold(list.name === '-' ? 'standard input' : list.name), baseUrl === undefined ? '' : dim(`  → ${baseUrl}`)],
  ]
  const line = (name: string, ...parts: Part[]) => lines.push([dim(`  ${name.padEnd(10)}`), ...parts])
  // Only the label is yellow: in many light themes, yellow text is hard to read.
  const warn = (text: string) => lines.push([yellow(`  ${'warning'.padEnd(10)}`), text])
  line(pids.length === 1 ? 'campaign' : 'campaigns', formatNames(pids))
  const wallets = ({ wallets, xp }: Totals) => `${formatCount(wallets, 'wallet')}, ${formatXp(xp)}`
  line('list', `${formatCount(list.rows.length, 'row')}, ${wallets(total)}`)
  if (repeated.rows > 0) {
    const rows = formatCount(repeated.rows, 'row')
    line('', `${rows} identical to an earlier row, not counted: ${formatXp(repeated.xp)}`)
  }
  const { unused } = list.columns
  if (unused.length > 0) line('', dim(`ignored columns: ${formatNames(unused)}`))
  line('sha256', sha256)
  if (list.skipped.rows > 0) {
    line('skipped', bold(`${formatCount(list.skipped.rows, 'row')} with mistakes`))
    for (const text of problemLines(sortedProblems(list.skipped.problems), MAX_SHOWN)) line('', text)
  }

  line('ledger', ledger, `  ${ledgerText(plan)}`, dim(`  run ${run}`))
  const recorded = recordedTotals(plan, list.rows)
  const recordedLine = (awards: number, xp: number, text: string, note = '') => {
    if (awards === 0) return
    line('', `${formatCount(awards, 'award')} ${text}, ${formatXp(xp)}`)
    if (note !== '') line('', `  ${note}`)
  }
  const { awarded, alreadyAwarded, rejected, unconfirmed, indeterminate } = recorded
  recordedLine(awarded.awards + alreadyAwarded.awards, addDecimals(awarded.xp, alreadyAwarded.xp), 'made before')
  recordedLine(recorded.usedBefore.awards, recorded.usedBefore.xp, 'not given: the id was used before')
  recordedLine(rejected.awards, rejected.xp, 'rejected before', '--retry-rejected sends rejected awards again')
  recordedLine(unconfirmed.awards, unconfirmed.xp, 'possibly made before')
  recordedLine(indeterminate.awards, indeterminate.xp, 'with an unknown outcome', 'sent again under the same id')

  line('to send', bold(`${formatCount(toSend.awards, 'award')}, ${wallets(toSend)}`))
  if (wrongChecksums.wallets > 0) {
    const { wallets, examples } = wrongChecksums
    const addresses = `${formatNumber(wallets)} ${wallets === 1 ? 'address' : 'addresses'}`
    warn(`${addresses} may contain a typing error (wrong checksum, EIP-55):`)
    for (const { line: number, address } of examples) line('', `line ${number}: ${address}`)
    if (wallets > examples.length) line('', '…')
  }
  for (const { pid, status, reason } of asked?.refused ?? []) {
    warn(`the service refuses campaign ${pid} (${status}): ${reason}`)
  }
  if (asked && asked.usedBefore > 0) {
    const isOne = asked.usedBefore === 1
    warn(
      `${formatNumber(asked.usedBefore)} of ${formatCount(asked.wallets, 'wallet')} asked already ` +
        `${isOne ? 'has its' : 'have their'} award of this list: its reason or ids were used before, and nothing ` +
        `will be given for ${isOne ? 'it' : 'them'}`,
    )
  }
  if (asked?.stopped !== undefined) line('asked', `the service was not asked further: ${asked.stopped}`)
  if (elsewhere.notCompared !== undefined) warn(`no other ledger was compared: ${elsewhere.notCompared}`)
  for (const warning of elsewhere.warnings) warn(warning)
  if (elsewhere.wallets > 0) {
    warn(`${formatWere(elsewhere.wallets, 'wallet')} awarded the same XP in the last 14 days:`)
    for (const { ledger: other, wallets: count, lastAt } of elsewhere.ledgers.slice(0, MAX_EXAMPLES)) {
      line('', `${formatCount(count, 'wallet')} in ${other}, under another id`, dim(`  ${dayOf(lastAt)}`))
    }
    if (elsewhere.ledgers.length > MAX_EXAMPLES) line('', '…')
  }
  if (awardedBefore.wallets === 0) return lines
  warn(`${formatWere(awardedBefore.wallets, 'wallet')} awarded in the same campaign under another id:`)
  for (const { address, xp, at } of awardedBefore.examples) {
    line('', `${address}  ${formatXp(xp)}`, dim(`  ${dayOf(at)}`))
  }
  if (awardedBefore.wallets > awardedBefore.examples.length) line('', '…')
  const who = awardedBefore.wallets === 1 ? 'this wallet is' : 'these wallets are'
  line('', `If you changed a reason or an id, ${who} awarded twice.`)
  return lines
}

/** Mistakes after which no other row can be trusted. */
const REFUSES_LIST: ReadonlySet<ListProblem['rule']> = new Set(['csv', 'max_xp', 'rounded'])

/**
 * Leaves the rows with mistakes out of a plan: `--skip-invalid`.
 *
 * @returns the plan without them; the same plan if it has no such rows, no others, or a mistake that refuses the list
 */
export async function skipInvalid(plan: Plan): Promise<Plan> {
  const problems = [...plan.list.problems, ...plan.problems]
  if (problems.length === 0 || problems.some(({ rule }) => REFUSES_LIST.has(rule))) return plan
  const list = withoutInvalid(plan.list, problems)
  return list.rows.length === 0 ? plan : makePlan(list, plan)
}

/** Leaves out the rows with mistakes, and all rows that have the id of one or look like one: nobody knows which is right. */
function withoutInvalid(list: AwardList, problems: readonly ListProblem[]): AwardList {
  /** The lines to leave out, with the line of the mistake. */
  const lines = new Map<number, number>()
  for (const { line, alike = [] } of problems) {
    if (line !== undefined) for (const each of [...alike, line]) lines.set(each, line)
  }
  const ids = new Map<string, number>()
  for (const { line, id } of list.records) {
    const wrongLine = lines.get(line)
    if (wrongLine !== undefined && id !== undefined) ids.set(id, wrongLine)
  }
  const withMistake = new Set(problems.map(({ line }) => line))
  const skipped = [...problems]
  const skippedLines = new Set<number>()
  for (const { line, id } of list.records) {
    const wrongLine = lines.get(line) ?? (id === undefined ? undefined : ids.get(id))
    if (wrongLine === undefined) continue
    skippedLines.add(line)
    if (withMistake.has(line)) continue
    const message = `line ${wrongLine} has a mistake, and the same id or a reason that looks the same`
    skipped.push({ rule: 'id', line, message })
  }
  const rows = list.rows.filter(({ line }) => !skippedLines.has(line))
  const awards = awardsById(rows)
  return { ...list, rows, awards, problems: [], skipped: { rows: skippedLines.size, problems: skipped } }
}

/**
 * Returns whether the letter case of an address contradicts its checksum: it then may contain a typing error. An address in
 * one letter case has no checksum. https://eips.ethereum.org/EIPS/eip-55
 */
export function hasWrongChecksum(address: string): boolean {
  const digits = address.slice(2)
  const lowerCase = digits.toLowerCase()
  if (digits === lowerCase || digits === digits.toUpperCase()) return false
  const hash = bytesToHex(keccak_256(utf8ToBytes(lowerCase)))
  return [...lowerCase].some((digit, index) => {
    const isUpperCase = Number.parseInt(hash[index] ?? '', 16) >= 8
    return digits[index] !== (isUpperCase ? digit.toUpperCase() : digit)
  })
}

import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { fileLedger, type LedgerEntry, type ReadHeader } from '../../bulk/ledger/file-ledger.ts'
import { LEDGER } from '../../bulk/ledger/ledger.ts'
import { type MessageParts, partsOf } from '../../errors/bulk-errors.ts'
import { ConfigurationError } from '../../errors/client-errors.ts'
import {
  addSums,
  isFinal,
  isRetryableRejection,
  isSameAward,
  isUnknown,
  isUsedBefore,
  type Sum,
  VERDICTS,
  walletKey,
} from '../../shared/award.ts'
import { shellWord, toJsonLine } from '../../shared/text.ts'
import { comparableAddress } from '../../shared/wallet-address.ts'
import { EXIT } from '../exit-codes.ts'
import { CommandFailure } from '../failure.ts'
import { bold, dim, type Part, yellow } from '../output.ts'
import type { Asked } from './ask-service.ts'
import { formatCount, formatNames, formatNumber, formatWere, formatXp } from './format.ts'
import {
  type AwardList,
  awardsById,
  lookAlikesInLedger,
  MAX_SHOWN,
  problemFields,
  problemLines,
  sha256Of,
  sortedProblems,
  type Totals,
  totalsOf,
} from './list.ts'
import { type Elsewhere, NOTHING_ELSEWHERE } from './other-ledgers.ts'
import type { ListProblem, ListRow } from './read-row.ts'

/** What a ledger holds. */
export interface LedgerContents {
  /** `undefined` if no run has used the ledger yet. */
  readonly header: ReadHeader | undefined
  /** All entries, by id. */
  readonly entries: ReadonlyMap<string, LedgerEntry>
}

/** Reads a ledger. @throws CommandFailure when it is in use or cannot be read */
export async function readContents(ledger: string): Promise<LedgerContents> {
  const entries = new Map<string, LedgerEntry>()
  try {
    const header = await fileLedger(ledger)[LEDGER].read((entry) => entries.set(entry.id, entry))
    return { header, entries }
  } catch (error) {
    throw ledgerRefusal(error)
  }
}

/** Names the flag instead of the option in the error of a ledger that belongs to another target. */
export function ledgerRefusal(error: unknown): unknown {
  if (!(error instanceof ConfigurationError)) return error
  const { text = error.message, rebind } = partsOf(error)
  return new CommandFailure(EXIT.usage, error.code, rebind === undefined ? text : `${text}. ${adviceOnRebind(rebind)}`)
}

const adviceOnRebind = ({ from, isWrong }: NonNullable<MessageParts['rebind']>): string =>
  isWrong
    ? `--rebind must be ${from.map(toJsonLine).join(' or ')}`
    : `If this is the same service and organization, add --rebind ${shellWord(from[0])}`

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
  readonly contents: LedgerContents
  readonly sha256: string
  /** The rows that contradict the ledger. */
  readonly problems: readonly ListProblem[]
  /** Similar awards in other ledgers of the folder, if this ledger has no awards. */
  readonly elsewhere: Elsewhere
  /** `undefined` if the service was not asked: without a base URL and token, or if there is nothing to send. */
  readonly asked?: Asked
  /** The awards of the ledger, even those that are not in the list. */
  readonly recorded: {
    readonly awards: number
    readonly firstAt?: string | undefined
    readonly lastAt?: string | undefined
  }
  readonly pids: readonly string[]
  /** Counts each award once. */
  readonly total: Totals
  /** The rows that are identical to an earlier row, and the XP that they would add to the total. */
  readonly repeated: { readonly rows: number; readonly xp: number }
  readonly toSend: Totals
  /** Wallets with an earlier award in the same campaign, under an id that is not in the list. */
  readonly awardedBefore: { readonly wallets: number; readonly examples: readonly LedgerEntry[] }
  /** Addresses to send to whose letter case contradicts their checksum. */
  readonly wrongChecksums: { readonly wallets: number; readonly examples: readonly ListRow[] }
}

/** Compares a list with its ledger. */
export function planAwards(list: AwardList, contents: LedgerContents, options: PlanOptions): Plan {
  const { ledger, run, baseUrl, retryRejected } = options
  const { entries } = contents
  const rows = [...list.awards.values()]
  const dates = [...entries.values()].map(({ at }) => at).sort()
  const [firstAt, lastAt] = [dates[0], dates.at(-1)]
  const isDone = ({ id }: ListRow): boolean => {
    const { verdict, error } = entries.get(id) ?? {}
    if (verdict === undefined || !isFinal(verdict)) return false
    return !(retryRejected && isRetryableRejection(verdict, error))
  }
  const toSend = rows.filter((row) => !isDone(row))
  return {
    ledger,
    run,
    baseUrl,
    retryRejected,
    list,
    contents,
    sha256: sha256Of(list),
    problems: [...contradictions(rows, entries), ...lookAlikesInLedger(list, entries)],
    elsewhere: NOTHING_ELSEWHERE,
    recorded: { awards: entries.size, ...(firstAt !== undefined && { firstAt, lastAt }) },
    pids: [...new Set(rows.map(({ pid }) => pid))],
    total: totalsOf(rows),
    repeated: repeatedRows(list),
    toSend: totalsOf(toSend),
    awardedBefore: awardedBefore(toSend, list, entries),
    wrongChecksums: wrongChecksums(toSend),
  }
}

/** Finds the rows whose ids belong to other awards in the ledger. */
const contradictions = (rows: readonly ListRow[], entries: LedgerContents['entries']): ListProblem[] =>
  rows.flatMap((row) => {
    const entry = entries.get(row.id)
    if (entry === undefined || isSameAward(row, entry)) return []
    const { address, pid, xp } = entry
    const message = `the ledger has another award with the id of this row: ${address}, campaign ${pid}, ${xp} XP`
    return [{ rule: 'ledger', line: row.line, message }]
  })

/** Returns whether an award of the list has an unknown outcome in the ledger. */
export const hasUnknownOutcome = ({ awards }: AwardList, { entries }: LedgerContents): boolean =>
  [...awards.keys()].some((id) => isUnknown(entries.get(id)?.verdict ?? 'awarded'))

const RECORDED = [...VERDICTS, 'usedBefore'] as const

/** Counts the awards of some rows by their verdict in the ledger. Ids that were used before are counted apart. */
export function recordedTotals({ contents, list }: Plan, rows: readonly ListRow[]) {
  // Repeated rows are one award: count the first row.
  const firsts = rows.filter((row) => list.awards.get(row.id) === row)
  const groups = Map.groupBy(firsts, ({ id }) => {
    const { verdict, error } = contents.entries.get(id) ?? {}
    return verdict !== undefined && isUsedBefore(verdict, error) ? 'usedBefore' : verdict
  })
  const totals = RECORDED.map((name) => [name, totalsOf(groups.get(name) ?? [])])
  return Object.fromEntries(totals) as Readonly<Record<(typeof RECORDED)[number], Totals>>
}

function repeatedRows({ rows, awards }: AwardList): Plan['repeated'] {
  const { awards: count, xp } = totalsOf(rows.filter((row) => awards.get(row.id) !== row))
  return { rows: count, xp }
}

const MAX_EXAMPLES = 3

function awardedBefore(
  toSend: readonly ListRow[],
  { awards }: AwardList,
  entries: LedgerContents['entries'],
): Plan['awardedBefore'] {
  const others = [...entries.values()].filter(({ id, verdict }) => verdict !== 'rejected' && !awards.has(id))
  const notInList = new Map(others.map((entry) => [walletKey(entry), entry]))
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
  const recordedLine = ({ awards, xp }: Sum, text: string, note = '') => {
    if (awards === 0) return
    line('', `${formatCount(awards, 'award')} ${text}, ${formatXp(xp)}`)
    if (note !== '') line('', `  ${note}`)
  }
  const { awarded, alreadyAwarded, rejected, unconfirmed, indeterminate } = recorded
  recordedLine(addSums(awarded, alreadyAwarded), 'made before')
  recordedLine(recorded.usedBefore, 'not given: the id was used before')
  recordedLine(rejected, 'rejected before', '--retry-rejected sends rejected awards again')
  recordedLine(unconfirmed, 'possibly made before')
  recordedLine(indeterminate, 'with an unknown outcome', 'sent again under the same id')

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
export function skipInvalid(plan: Plan): Plan {
  const problems = [...plan.list.problems, ...plan.problems]
  if (problems.length === 0 || problems.some(({ rule }) => REFUSES_LIST.has(rule))) return plan
  const list = withoutInvalid(plan.list, problems)
  return list.rows.length === 0 ? plan : planAwards(list, plan.contents, plan)
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

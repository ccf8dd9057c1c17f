import { existsSync } from 'node:fs'
import { fileLedger, type LedgerEntry } from '../bulk/ledger/file-ledger.ts'
import { LEDGER } from '../bulk/ledger/ledger.ts'
import { readProgress } from '../bulk/read-progress.ts'
import type { CampaignClient } from '../client.ts'
import type { UserProgress } from '../endpoints/get-user-progress.ts'
import type { CampaignError } from '../errors/campaign-error.ts'
import { BadRequestError } from '../errors/client-errors.ts'
import type { Verdict } from '../schemas/award-report.ts'
import {
  type AwardFinding,
  addAward,
  findAward,
  isAwarded,
  isUnknown,
  isUsedBefore,
  NO_AWARDS,
  type Sum,
  VERDICTS,
} from '../shared/award.ts'
import { type ClientTarget, clientInternals, differentParts, shownClaim } from '../shared/client-internals.ts'
import { comparableAddress } from '../shared/wallet-address.ts'
import { type ProgressFormat, readProgressFormat } from './award/ask-service.ts'
import { formatCount, formatXp } from './award/format.ts'
import { checkReportPaths, ledgerReport, writeReports } from './award/report.ts'
import type { Context } from './command.ts'
import { connect, tokenFilesOf } from './connection.ts'
import { EXIT, type ExitCode, exitCodeOf } from './exit-codes.ts'
import { usageFailure } from './failure.ts'
import { bold, dim, green, type Part, plainLine, red } from './output.ts'

export interface LedgerFlags {
  readonly wallet?: string
  readonly pid?: string
  readonly id?: string
  readonly verdict?: readonly Verdict[]
  readonly explain?: boolean
  readonly profile?: string
  readonly report?: readonly string[]
}

/** What the progress of the wallet shows about an award. */
type ProgressFinding = AwardFinding | { readonly found: 'no_such_user' } | { readonly error: CampaignError }

/** The progress of a wallet that is not in the ledger. */
type OtherWallet = { readonly address: string; readonly pid: string } & (
  | { readonly found: 'user'; readonly total: number; readonly rewards: UserProgress['rewards'] }
  | Exclude<ProgressFinding, AwardFinding>
)

interface LedgerSummary {
  readonly target: ClientTarget | null
  readonly run: string | null
  readonly firstAt: string | null
  readonly lastAt: string | null
  readonly totals: Readonly<Record<Verdict, Sum>>
  readonly inDoubt: number
}

interface LedgerContents {
  readonly summary: LedgerSummary
  /** The campaigns of the ledger. */
  readonly pids: ReadonlySet<string>
  /** Whether the ledger has awards of the wallet and the campaign that the flags select. */
  readonly hasWallet: boolean
  /** The awards that the flags select. */
  readonly entries: readonly LedgerEntry[]
}

/** Prints the contents of a ledger, and writes the reports. */
export async function showLedger(file: string, flags: LedgerFlags, context: Context): Promise<ExitCode> {
  const { output, env } = context
  const { report = [], explain = false } = flags
  const inputs = [file, `${file}-wal`, ...tokenFilesOf(env), ...(flags.profile === undefined ? [] : [flags.profile])]
  await checkReportPaths(report, inputs)
  if (!existsSync(file)) throw usageFailure(`there is no ledger "${file}"`)
  const contents = await readContents(file, flags)
  const { findings, other } = explain ? await explainContents(contents, flags, context) : NOTHING_EXPLAINED

  const isFiltered = hasFilter(flags)
  const { summary, entries } = contents
  const exitCode = exitCodeOfFindings([...findings.values(), ...(other ? [other] : [])])
  const fields = {
    ...summary,
    ...((isFiltered || explain) && { rows: entries.map((entry) => rowOf(entry, findings.get(entry))) }),
    ...(other && !('error' in other) && { progress: other }),
    exitCode,
  }
  const lines = [
    ...summaryLines(file, summary),
    ...(isFiltered || explain ? entries.flatMap((entry) => entryLines(entry, findings.get(entry))) : []),
    ...(isFiltered && entries.length === 0 ? [['no award matches']] : []),
    ...(other ? otherWalletLines(other) : []),
    ...(explain && !isFiltered && entries.length === 0
      ? [['nothing to explain: no award was refused or is in doubt']]
      : []),
  ]
  const failures = await writeReports(report, {
    fields,
    lines: lines.map(plainLine),
    table: () => ledgerReport(entries),
  })
  output.result(fields, (out) => {
    for (const parts of lines) out.line(...parts)
  })
  if (failures[0] !== undefined) throw failures[0]
  return exitCode
}

const hasFilter = ({ wallet, pid, id, verdict }: LedgerFlags): boolean =>
  [wallet, pid, id, verdict].some((flag) => flag !== undefined)

async function readContents(file: string, flags: LedgerFlags): Promise<LedgerContents> {
  const { wallet, pid, id, verdict: verdicts, explain } = flags
  const address = wallet === undefined ? undefined : comparableAddress(wallet)
  const totals = Object.fromEntries(VERDICTS.map((name) => [name, NO_AWARDS])) as Record<Verdict, Sum>
  const entries: LedgerEntry[] = []
  const pids = new Set<string>()
  let hasWallet = false
  let firstAt: string | null = null
  let lastAt: string | null = null
  const isFiltered = hasFilter(flags)
  const header = await fileLedger(file)[LEDGER].read((entry) => {
    totals[entry.verdict] = addAward(totals[entry.verdict], entry)
    if (firstAt === null || entry.at < firstAt) firstAt = entry.at
    if (lastAt === null || entry.at > lastAt) lastAt = entry.at
    pids.add(entry.pid)
    const isOfWallet =
      (address === undefined || comparableAddress(entry.address) === address) &&
      (pid === undefined || entry.pid === pid)
    if (isOfWallet) hasWallet = true
    const isShown =
      isOfWallet &&
      (id === undefined || entry.id === id) &&
      (verdicts === undefined || verdicts.includes(entry.verdict))
    // Without a filter, --explain is about the awards that were not made by an attempt of this ledger.
    if (isShown && (isFiltered || !explain || !isMadeByLedger(entry))) entries.push(entry)
  })
  const inDoubt = VERDICTS.filter(isUnknown).reduce((sum, verdict) => sum + totals[verdict].awards, 0)
  const { target = null, run = null } = header ?? {}
  return { summary: { target, run, firstAt, lastAt, totals, inDoubt }, entries, pids, hasWallet }
}

/** Whether an attempt of the ledger made the award. */
const isMadeByLedger = ({ verdict, error }: LedgerEntry): boolean => isAwarded(verdict) && !isUsedBefore(verdict, error)

interface Explanation {
  readonly findings: ReadonlyMap<LedgerEntry, ProgressFinding>
  readonly other: OtherWallet | undefined
}

const NOTHING_EXPLAINED: Explanation = { findings: new Map(), other: undefined }

/** Reads the progress for each selected award that no attempt of the ledger made, and of the `--wallet` if it has no award. */
async function explainContents(contents: LedgerContents, flags: LedgerFlags, context: Context): Promise<Explanation> {
  const { pids, hasWallet, summary } = contents
  const { wallet: address, pid = pids.size === 1 ? [...pids][0] : undefined } = flags
  const isOther = address !== undefined && !hasWallet
  if (isOther && pid === undefined) {
    throw usageFailure(`the ledger has awards of ${formatCount(pids.size, 'campaign')}`, 'add --pid')
  }
  const client = await connect(context.env)
  const format = await readProgressFormat(flags.profile, context)
  requireSameTarget(summary.target, await clientInternals(client)?.target('ledger', undefined))
  return {
    findings: await explainEntries(contents, client, format),
    other: isOther && pid !== undefined ? await readWallet(client, address, pid, format.platform) : undefined,
  }
}

async function readWallet(
  client: CampaignClient,
  address: string,
  pid: string,
  platform: string,
): Promise<OtherWallet> {
  for await (const { progress, error } of readProgress(client, [{ account: address, platform, pid }])) {
    if (error) return { address, pid, ...failedFinding(error) }
    const { total, rewards } = progress
    return { address, pid, found: 'user', total, rewards }
  }
  throw new Error('a reading yields one result')
}

async function explainEntries(
  { entries }: LedgerContents,
  client: CampaignClient,
  format: ProgressFormat,
): Promise<Map<LedgerEntry, ProgressFinding>> {
  const users = entries
    .filter((entry) => !isMadeByLedger(entry))
    .map((entry) => ({ entry, account: entry.address, platform: format.platform, pid: entry.pid }))
  const findings = new Map<LedgerEntry, ProgressFinding>()
  for await (const { user, progress, error } of readProgress(client, users)) {
    const finding = error ? failedFinding(error) : findAward(progress.rewards, user.entry, format.amounts)
    findings.set(user.entry, finding)
  }
  return findings
}

/** @throws CommandFailure when the ledger belongs to another service or account */
function requireSameTarget(recorded: ClientTarget | null, current: ClientTarget | undefined): void {
  if (recorded === null || current === undefined) return
  const [different] = differentParts(recorded, current)
  if (different === undefined) return
  const [part, label] = different
  const [theirs, ours] = [recorded, current].map((target) => shownClaim(target[part]))
  throw usageFailure(
    `--explain would ask another service or account: the ledger has the ${label} ${theirs}, not ${ours}`,
    'set CAMPAIGN_BASE_URL and the token with which the awards were sent',
  )
}

/**
 * Assumed: the service refuses an unknown user with its standard error for 400. A 400 without a code comes from a proxy, or
 * has another reason.
 */
const failedFinding = (error: CampaignError): Exclude<ProgressFinding, AwardFinding> =>
  error instanceof BadRequestError && error.serviceCode !== undefined ? { found: 'no_such_user' } : { error }

function exitCodeOfFindings(findings: readonly (ProgressFinding | OtherWallet)[]): ExitCode {
  for (const finding of findings) if ('error' in finding) return exitCodeOf(finding.error.code)
  return EXIT.done
}

const rowOf = ({ id, address, pid, xp, verdict, at, error }: LedgerEntry, finding: ProgressFinding | undefined) => ({
  id,
  address,
  pid,
  xp,
  verdict,
  at,
  ...(error && { reason: error.message }),
  ...(finding !== undefined && !('error' in finding) && finding),
})

function summaryLines(file: string, { target, run, firstAt, lastAt, totals, inDoubt }: LedgerSummary): Part[][] {
  const lines: Part[][] = [[bold(file)]]
  const line = (name: string, ...parts: Part[]) => lines.push([dim(`  ${name.padEnd(15)}`), ...parts])
  const account = target === null ? '' : [target.issuer, target.subject].filter((part) => part !== null).join(', ')
  line('target', target === null ? 'none recorded' : target.address, dim(account && `  ${account}`))
  line('run', run ?? 'none')
  if (firstAt !== null && lastAt !== null) {
    line('first', firstAt)
    line('last', lastAt)
  }
  const all = Object.values(totals).reduce((sum, { awards }) => sum + awards, 0)
  if (all === 0) line('awards', 'none')
  for (const name of VERDICTS) {
    const { awards, xp } = totals[name]
    if (awards > 0) line(name, `${formatCount(awards, 'award')}, ${formatXp(xp)}`)
  }
  if (inDoubt > 0) line('in doubt', bold(`${formatCount(inDoubt, 'award')} may have been made: run the list again`))
  return lines
}

/** Formats an award in lines of at most 80 columns, unless its id or its reason is long. */
function entryLines(entry: LedgerEntry, finding: ProgressFinding | undefined): Part[][] {
  const { address, id, xp, pid, verdict, at, error } = entry
  const colour = isAwarded(verdict) ? green : red
  const first: Part[] = [`${address}  `, colour(verdict), `  ${formatXp(xp)}`]
  const second: Part[] = [`  ${id}`, dim(`  ${pid}  ${at}`)]
  const reason = error === undefined ? '' : error.message
  const known = [reason, finding === undefined ? '' : findingText(finding)].filter(Boolean)
  return [first, second, ...known.map((text) => [`  ${text}`])]
}

const MAX_REWARDS_SHOWN = 20

/** Formats the progress of a wallet that is not in the ledger. */
function otherWalletLines(other: OtherWallet): Part[][] {
  const first: Part[] = [`${other.address}  `, bold('not in this ledger'), dim(`  ${other.pid}`)]
  if (!('total' in other)) return [first, [`  ${findingText(other)}`]]
  const { total, rewards } = other
  return [
    first,
    [`  the progress has ${formatXp(total)} in total, and ${formatCount(rewards.length, 'reward')}`],
    ...rewards.slice(0, MAX_REWARDS_SHOWN).map(({ id, type, reward }) => [`  ${id}  ${reward} ${type}`]),
    ...(rewards.length > MAX_REWARDS_SHOWN ? [['  …']] : []),
  ]
}

function findingText(finding: ProgressFinding): string {
  if ('error' in finding) return `the progress cannot be read: ${finding.error.message}`
  switch (finding.found) {
    case 'same_amount':
      return 'the progress lists the id with this amount: it was awarded'
    case 'other_amount':
      return finding.foundXp === undefined
        ? 'the progress lists the id without an amount'
        : `the progress lists the id with another amount: ${formatXp(finding.foundXp)}`
    case 'not_listed':
      return 'the progress does not list the id'
    case 'no_such_user':
      return 'the service has no such user in this campaign'
  }
}

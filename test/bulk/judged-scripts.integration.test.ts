import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CampaignClient } from 'campaign-client'
import {
  type AwardLedger,
  type AwardReport,
  type AwardRow,
  AwardRunStoppedError,
  confirmFromProgress,
  fileLedger,
  rewardWallets,
} from 'campaign-client/bulk'
import { nodeTransport } from 'campaign-client/node'
import { describe, expect, onTestFinished, test } from 'vitest'
import { jsonOf, run as runCommand, runProcess, startProcess } from '../cli/command.ts'
import { postgres } from '../databases/postgres.ts'
import { compiled } from '../support/compiled.ts'
import { FULL_SIZE } from '../support/full-size.ts'
import { skipsWithout } from '../support/skips-without.ts'
import { expectSameCounts, type RecordedAward } from './expect-agreement.ts'
import { awards, entriesOf, newPath, temporaryFolder } from './fixtures.ts'
import { type Fault, Judge } from './judge.ts'
import { postgresLedgers } from './postgres-ledgers.ts'
import { type Random, randomFor, randomOf } from './random.ts'
import { RunProcess } from './run-process.ts'
import type { RunTask } from './run-program.ts'

/** The number of random scripts for each way to run awards, and how many of them kill a process. */
const SCRIPTS = FULL_SIZE ? 60 : 2
const KILLS = FULL_SIZE ? 12 : 1
/** Scripts mostly wait for pauses. */
const CONCURRENT_SCRIPTS = 8
const ROWS = 24
const LEASE_MS = 700

const PROGRAM = 'test/bulk/run-program.ts'
const pathOf = compiled(PROGRAM)

const FAULTS: readonly Fault[] = [
  { isApplied: false, response: 'none' },
  { isApplied: true, response: 'none' },
  { isApplied: true, response: 'incomplete' },
  { isApplied: false, response: 500 },
  { isApplied: true, response: 500 },
  { isApplied: false, response: 502 },
  { isApplied: true, response: 503 },
  { isApplied: true, response: 504 },
  { isApplied: false, response: 429 },
]

/** An event in a run, at one of its requests. */
type Event = 'none' | 'kill' | 'short outage' | 'long outage' | 'renewed token' | 'token of another account'

/** One run of a script. */
interface ScriptedRun {
  readonly faults: readonly Fault[]
  readonly faultsPerHundred: number
  readonly event: Event
  /** The number of requests in the run before the event. */
  readonly requestsBefore: number
  readonly concurrency: number
  readonly patienceMs: number
  readonly confirms: boolean
  readonly retryRejected: boolean
}

/** What is under test: the function in this process and in one that is killed, or the command. */
interface Runner {
  readonly read: () => Promise<RecordedAward[]>
  /** Makes a run to its end. */
  readonly run: (judge: Judge, tokenFile: string, scripted: ScriptedRun) => Promise<RunEnd>
  /** Starts a run in a process. */
  readonly start: (judge: Judge, tokenFile: string, scripted: ScriptedRun) => Promise<KillableRun>
}

interface RunEnd {
  readonly report: Pick<AwardReport, 'rows' | 'counts' | 'complete' | 'problems'>
  /** Why the run stopped. */
  readonly stopMessage?: string | undefined
  /** The command's. */
  readonly exitCode?: number | null
  /** The code of the error that stopped the command. */
  readonly stopCode?: string | undefined
}

interface KillableRun {
  readonly ended: Promise<unknown>
  /** Resolves to whether the process was still running. */
  readonly kill: () => Promise<boolean>
}

/** Returns a token with these claims and an invalid signature. */
const jwt = (claims: object): string =>
  [{ alg: 'none' }, claims, 'signature']
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')

const tokenOf = (sub: string, number: number): string => jwt({ iss: 'https://issuer.example', sub, jti: `${number}` })

const EVENTS: readonly Event[] = ['none', 'short outage', 'long outage', 'renewed token', 'token of another account']

function randomRun({ below }: Random, killsProcess: boolean): ScriptedRun {
  const event = killsProcess ? 'kill' : (EVENTS[below(EVENTS.length)] as Event)
  return {
    faults: Array.from({ length: 1 + below(4) }, () => FAULTS[below(FAULTS.length)] as Fault),
    // With more faults, a run may stop before it is killed.
    faultsPerHundred: [0, 10, 20, 40][below(killsProcess ? 3 : 4)] as number,
    event,
    requestsBefore: below(event === 'kill' ? ROWS / 2 : ROWS),
    concurrency: 1 + below(6),
    // The outage ends with the run.
    patienceMs: event === 'long outage' ? 0 : 60_000,
    confirms: below(2) === 0,
    retryRejected: below(4) === 0,
  }
}

const QUIET_RUN: ScriptedRun = {
  faults: [],
  faultsPerHundred: 0,
  event: 'none',
  requestsBefore: 0,
  concurrency: 8,
  patienceMs: 60_000,
  confirms: true,
  retryRejected: false,
}

/** Runs a random script, then a run without faults. Compares the judge with ledger, report and exit code after each run. */
async function runScript(label: string, random: Random, killsProcess: boolean, { read, run, start }: Runner) {
  const { below } = random
  const judge = await Judge.start()
  const rows = awards(ROWS)
  for (const { id } of rows) if (below(12) === 0) judge.refusedIds.add(id)
  const tokenFile = join(temporaryFolder(), 'token')
  let tokens = 0
  const changeToken = (subject: string): void => {
    const token = tokenOf(subject, ++tokens)
    writeFileSync(tokenFile, token)
    judge.token = token
  }

  /** Makes the faults and the event of a run happen. @returns a function that ends them */
  const prepare = (scripted: ScriptedRun, kill: () => void): (() => void) => {
    changeToken('alice')
    judge.nextFault = () =>
      below(100) < scripted.faultsPerHundred ? scripted.faults[below(scripted.faults.length)] : undefined
    let requestsLeft = scripted.requestsBefore
    let timer: NodeJS.Timeout | undefined
    judge.onAward = () => {
      if (requestsLeft-- !== 0) return
      if (scripted.event === 'renewed token') changeToken('alice')
      if (scripted.event === 'token of another account') changeToken('bob')
      if (scripted.event === 'kill') kill()
      if (!scripted.event.endsWith('outage')) return
      judge.isDown = true
      if (scripted.event === 'short outage') timer = setTimeout(() => (judge.isDown = false), below(400))
    }
    return () => {
      clearTimeout(timer)
      judge.isDown = false
      judge.nextFault = () => undefined
      judge.onAward = () => undefined
    }
  }

  let wasKilled = false
  const judgedRun = async (at: string, scripted: ScriptedRun): Promise<RunEnd> => {
    const before = judge.decisions
    const end = prepare(scripted, () => undefined)
    const ended = await run(judge, tokenFile, scripted)
    end()
    // After a kill, a claim of the killed process counts for the ledger, and not yet for a report that stops early.
    const hasSameCounts = !wasKilled || ended.report.complete
    expectJudgement(at, judge, rows, await read(), ended, { hasSameCounts, hasSent: judge.decisions > before })
    return ended
  }
  const runs = 1 + below(3)
  for (let number = 0; number < runs; number++) {
    const at = `${label}, run ${number}`
    const scripted = randomRun(random, killsProcess && number === 0)
    if (scripted.event === 'kill') {
      // At the event, the process waits for the response to at least one request.
      wasKilled = await new Promise<boolean>((resolve, reject) => {
        let kill: () => Promise<boolean>
        const end = prepare(scripted, () => resolve(kill().finally(end)))
        start(judge, tokenFile, scripted).then((started) => {
          kill = started.kill
          started.ended.then(
            () => resolve(false),
            () => resolve(false),
          )
        }, reject)
      })
      expect(wasKilled, at).toBe(true)
      continue
    }
    await judgedRun(at, scripted)
  }

  const finished = (await read()).filter(({ verdict }) => FINAL.has(verdict))
  const requests = finished.map(({ id }) => [id, judge.requests.get(id)])
  const at = `${label}, last run`
  let ended = await judgedRun(at, QUIET_RUN)
  expect(ended.stopMessage, at).toBeUndefined()
  if (ended.report.counts.indeterminate > 0) {
    // Only a connection that the last fault has reset can still lose a request.
    const codes = ended.report.problems.filter(({ verdict }) => verdict === 'indeterminate').map(({ code }) => code)
    expect(new Set(codes), at).toEqual(new Set(['network']))
    ended = await judgedRun(at, QUIET_RUN)
  }
  const { counts, complete } = ended.report
  expect(complete, at).toBe(true)
  expect(counts.indeterminate, at).toBe(0)
  expect(counts.awarded + counts.alreadyAwarded, at).toBe(ROWS - judge.refusedIds.size)
  // Everything was awarded once, by one account, and no finished award was sent again.
  const expected = rows.filter(({ id }) => !judge.refusedIds.has(id)).map((row) => ({ ...row, subject: 'alice' }))
  const byId = (one: AwardRow, other: AwardRow) => one.xp - other.xp
  expect([...judge.applied].sort(byId), at).toEqual(expected)
  expect(
    finished.map(({ id }) => [id, judge.requests.get(id)]),
    at,
  ).toEqual(requests)
  await judge.close()
  return { wasKilled, requests: [...judge.requests.values()].reduce((sum, count) => sum + count, 0) }
}

const FINAL: ReadonlySet<string> = new Set(['awarded', 'alreadyAwarded', 'rejected'])
const AWARDED: ReadonlySet<string> = new Set(['awarded', 'alreadyAwarded'])
const IN_DOUBT: ReadonlySet<string> = new Set(['indeterminate', 'unconfirmed'])

/** Compares the judge with the ledger, the report and the exit code. */
function expectJudgement(
  at: string,
  judge: Judge,
  rows: readonly AwardRow[],
  recorded: readonly RecordedAward[],
  { report, exitCode, stopCode }: RunEnd,
  { hasSameCounts, hasSent }: { hasSameCounts: boolean; hasSent: boolean },
): void {
  const applied = new Map(judge.applied.map(({ subject: _, ...award }) => [award.id, award]))
  expect(applied.size, `${at}: an award was applied twice`).toBe(judge.applied.length)
  const verdicts = new Map(recorded.map(({ id, verdict }) => [id, verdict]))
  for (const row of rows) {
    const verdict = verdicts.get(row.id)
    const isApplied = applied.has(row.id)
    if (isApplied) expect(applied.get(row.id), at).toEqual(row)
    if (verdict !== undefined && IN_DOUBT.has(verdict)) continue
    // A row without an entry was certainly not applied.
    const inLedger = verdict !== undefined && AWARDED.has(verdict)
    expect({ id: row.id, verdict, isApplied }, at).toEqual({ id: row.id, verdict, isApplied: inLedger })
  }
  expect([...applied.keys(), ...verdicts.keys()].filter((id) => !rows.some((row) => row.id === id))).toEqual([])
  if (hasSameCounts) expectSameCounts(report, recorded, at)
  if (exitCode === undefined) return
  expect({ exitCode, stopCode }, at).toEqual({ exitCode: expectedExitCode(), stopCode })

  function expectedExitCode(): number {
    if (recorded.some(({ verdict }) => IN_DOUBT.has(verdict))) return 5
    if (stopCode === 'configuration') return hasSent ? 1 : 2
    if (stopCode === 'network' || stopCode === 'timeout') return 4
    if (stopCode !== undefined) return 3
    return applied.size === rows.length ? 0 : 1
  }
}

/** Runs random scripts, several at a time. */
async function runScripts(label: string, newRunner: () => Runner): Promise<void> {
  const seeds = randomFor(label)
  let [next, killed, requests] = [0, 0, 0]
  const work = async (): Promise<void> => {
    while (next < SCRIPTS) {
      const script = next++
      const seed = seeds.below(2 ** 32)
      const ended = await runScript(`${label}, script ${script}`, randomOf(seed), script < KILLS, newRunner())
      if (ended.wasKilled) killed++
      requests += ended.requests
    }
  }
  await Promise.all(Array.from({ length: CONCURRENT_SCRIPTS }, work))
  expect(killed).toBe(KILLS)
  console.info(`${label}: ${SCRIPTS} scripts, ${killed} kills, ${requests} requests`)
}

type TransportName = NonNullable<RunTask['transport']>

/** Runs `rewardWallets`. */
function functionRunner(
  transportName: TransportName,
  task: RunTask['ledger'],
  open: () => AwardLedger,
  read: Runner['read'],
): Runner {
  const transport = transportName === 'nodeTransport' ? nodeTransport() : undefined
  if (transport) onTestFinished(() => transport.close())
  return {
    read,
    async run(judge, tokenFile, { concurrency, patienceMs, confirms, retryRejected }) {
      const client = new CampaignClient({
        baseUrl: judge.baseUrl,
        accessToken: () => readFileSync(tokenFile, 'utf8'),
        maxRetries: 1,
        retryDelayMs: () => 1,
        ...(transport && { transport }),
      })
      const confirm = confirms ? confirmFromProgress(client, { amounts: true }) : undefined
      const options = { ledger: open(), concurrency, patienceMs, retryRejected, confirm }
      try {
        return { report: await rewardWallets(client, awards(ROWS), options) }
      } catch (error) {
        if (error instanceof AwardRunStoppedError) return { report: error.report, stopMessage: error.message }
        throw error
      }
    },
    async start(judge, tokenFile, { concurrency }) {
      const process = new RunProcess(pathOf(PROGRAM), {
        baseUrl: judge.baseUrl,
        ledger: task,
        rows: [0, ROWS],
        concurrency,
        timeoutMs: 10_000,
        transport: transportName,
        tokenFile,
      })
      return { ended: process.step('report', 'error'), kill: () => process.kill() }
    },
  }
}

/** Runs the command. */
function commandRunner(): Runner {
  const path = newPath()
  // Runs in this process share its working directory.
  const list = join(dirname(path), 'list.csv')
  const lines = awards(ROWS).map(({ address, xp, id, pid }) => [address, xp, id, pid].join(','))
  writeFileSync(list, ['address,xp,id,pid', ...lines, ''].join('\n'))
  const args = ({ concurrency, patienceMs, retryRejected }: ScriptedRun): string[] => [
    ...['award', list, '--ledger', path, '--yes', '--json'],
    ...['--concurrency', `${concurrency}`, '--patience', `${patienceMs / 1_000}s`],
    ...(retryRejected ? ['--retry-rejected'] : []),
  ]
  const options = (judge: Judge, tokenFile: string) => ({
    env: { CAMPAIGN_BASE_URL: judge.baseUrl, CAMPAIGN_ACCESS_TOKEN_FILE: tokenFile },
  })
  return {
    read: () => entriesOf(path),
    async run(judge, tokenFile, scripted) {
      const ended = await runCommand(args(scripted), options(judge, tokenFile))
      const json = jsonOf(ended) as unknown as AwardReport & {
        exitCode: number
        error?: { code: string; message: string }
      }
      expect(json.exitCode).toBe(ended.code)
      return { report: json, exitCode: ended.code, stopCode: json.error?.code, stopMessage: json.error?.message }
    },
    async start(judge, tokenFile, scripted) {
      const running = await startProcess(args(scripted), options(judge, tokenFile))
      const kill = async (): Promise<boolean> => {
        running.child.kill('SIGKILL')
        return (await running.ended).signal === 'SIGKILL'
      }
      return { ended: running.ended, kill }
    },
  }
}

describe('a judge agrees with ledger, report and exit code in random scripts of faults, outages, tokens and kills', () => {
  test.each(['fetch', 'nodeTransport'] as const)('with a ledger in a file, over %s', async (transport) => {
    await runScripts(`judge, file, ${transport}`, () => {
      const path = newPath()
      return functionRunner(
        transport,
        { path },
        () => fileLedger(path),
        () => entriesOf(path),
      )
    })
  })

  test('with the command', async () => {
    // Builds the command before another run changes the working directory.
    await runProcess(['--version'])
    await runScripts('judge, command', commandRunner)
  })

  describe.skipIf(skipsWithout('PostgreSQL', postgres.missing))('with a ledger in PostgreSQL', () => {
    const newLedger = postgresLedgers()

    test.each(['fetch', 'nodeTransport'] as const)('over %s', async (transport) => {
      await runScripts(`judge, PostgreSQL, ${transport}`, () => {
        const { task, open, read } = newLedger()
        return functionRunner(transport, task, () => open({ leaseMs: LEASE_MS }), read)
      })
    })
  })
})

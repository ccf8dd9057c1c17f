import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname } from 'node:path'
import { ConfigurationError } from 'campaign-client'
import { fileLedger, rewardWallets } from 'campaign-client/bulk'
import { createCampaignService } from 'campaign-client/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { LEDGER } from '../../src/bulk/ledger/ledger.ts'
import { compiled } from '../support/compiled.ts'
import { socketsRead } from '../support/connections-closed.ts'
import { findProgram } from '../support/server-process.ts'
import { skipsWithout } from '../support/skips-without.ts'
import { awards, counts, entriesOf, holdCalls, newPath, setup, temporaryFolder } from './fixtures.ts'
import { RunProcess } from './run-process.ts'

const PROGRAM = 'test/bulk/run-program.ts'
const pathOf = compiled(PROGRAM)
const CONCURRENCY = 4
const IN_USE = 'this or another process is using it: a run, readLedger or the sqlite3 shell'

async function startRun(path: string, haltAfter?: number) {
  const service = createCampaignService()
  const { url, close } = await service.listen()
  onTestFinished(close)
  const rows = [0, 200] as const
  const task = { baseUrl: url, ledger: { path }, rows, concurrency: CONCURRENCY, timeoutMs: 10_000 }
  return { service, url, run: new RunProcess(pathOf(PROGRAM), haltAfter === undefined ? task : { ...task, haltAfter }) }
}

/** Expects that a run in this process is refused and sends nothing. */
async function expectRefused(path: string): Promise<void> {
  const { client, sent } = setup()
  const run = rewardWallets(client, awards(3), { ledger: fileLedger(path) })
  await expect(run).rejects.toThrow(ConfigurationError)
  await expect(run).rejects.toThrow(`the ledger ${path} can't be used: ${IN_USE}`)
  expect(sent()).toBe(0)
}

/** Expects that a run in another process is refused. */
async function expectOtherProcessRefused(path: string): Promise<void> {
  const { run, service } = await startRun(path)
  expect(await run.step('error', 'report')).toMatchObject({
    name: 'ConfigurationError',
    message: expect.stringContaining(IN_USE),
  })
  await socketsRead()
  expect(service.requests).toEqual([])
}

describe('a ledger that a run uses', () => {
  test('is refused to another process, and the first run goes on', async () => {
    const path = newPath()
    const { run } = await startRun(path, 10)
    await run.step('halted')
    await expectRefused(path)
    await expect(entriesOf(path)).rejects.toThrow(IN_USE)
    await expect(fileLedger(path)[LEDGER].read(() => undefined)).rejects.toThrow(IN_USE)
    run.resume()
    expect((await run.step('report')).report).toMatchObject({ rows: 200, counts: counts({ awarded: 200 }) })
    expect(await entriesOf(path)).toHaveLength(200)
  })

  test('is refused to the same process, and stays locked for other processes afterwards', async () => {
    const path = newPath()
    const { client } = setup()
    const held = holdCalls(client)
    const ledger = fileLedger(path)
    const run = rewardWallets(held, awards(3), { ledger })
    await expect.poll(() => held.waiting.length).toBe(3)

    await expectRefused(path)
    await expect(rewardWallets(client, awards(3), { ledger })).rejects.toThrow(IN_USE)
    await expectOtherProcessRefused(path)
    await expect(entriesOf(path)).rejects.toThrow(IN_USE)
    await expectOtherProcessRefused(path)
    await expect(fileLedger(path)[LEDGER].read(() => undefined)).rejects.toThrow(IN_USE)
    await expectOtherProcessRefused(path)

    for (const finish of held.waiting) finish()
    expect(await run).toMatchObject({ counts: counts({ awarded: 3 }), complete: true })
    const next = await startRun(path)
    expect((await next.run.step('report')).report.fromLedger).toBe(3)
  })

  test('stays locked while its process is suspended', async () => {
    const path = newPath()
    const { run } = await startRun(path, 10)
    await run.step('halted')
    run.signal('SIGSTOP')
    await expectRefused(path)
    await expectOtherProcessRefused(path)
    run.signal('SIGCONT')
    run.resume()
    expect((await run.step('report')).report.counts).toEqual(counts({ awarded: 200 }))
  })

  test('is free at once when its process is killed', async () => {
    const path = newPath()
    const { run, service, url } = await startRun(path, 10)
    await run.step('halted')
    const killed = run.kill()
    const next = new RunProcess(pathOf(PROGRAM), {
      baseUrl: url,
      ledger: { path },
      rows: [0, 200],
      concurrency: CONCURRENCY,
      timeoutMs: 10_000,
    })
    await killed
    const step = await next.step('report', 'error')
    // The other process may have tried before the kernel ended the killed one.
    if (step.step === 'error') expect(step.message).toContain(IN_USE)
    const { client } = setup({ fetch: service.fetch, baseUrl: url })
    const report = await rewardWallets(client, awards(200), { ledger: fileLedger(path) })
    expect(report).toMatchObject({ rows: 200, complete: true, counts: { rejected: 0 } })
    expect(service.state.awards).toHaveLength(200)
  })
})

const sqlite3 = findProgram('sqlite3')

describe.skipIf(skipsWithout('the sqlite3 shell', sqlite3 === undefined ? 'sqlite3 is not installed' : undefined))(
  'the sqlite3 shell',
  () => {
    test('reads a ledger after a run', async () => {
      const path = newPath()
      const { client, service } = setup()
      service.fail({ on: 'rewardWallet', kind: 'applied_then_reset', times: 2 })
      service.fail({ on: 'rewardWallet', kind: 'status', status: 400, times: 2 })
      await rewardWallets(client, awards(12), { ledger: fileLedger(path), concurrency: 1 })
      const sql = 'select verdict, count(*) from awards group by 1'
      const output = execFileSync(sqlite3 as string, [path, sql], { encoding: 'utf8' })
      expect(output).toBe('|2\nawarded|8\nrejected|2\n')
    })

    test('is refused while a run uses the ledger', async () => {
      const path = newPath()
      const { client } = setup()
      const held = holdCalls(client)
      const run = rewardWallets(held, awards(1), { ledger: fileLedger(path) })
      await expect.poll(() => held.waiting.length).toBe(1)
      const read = () => execFileSync(sqlite3 as string, [path, 'select * from awards'], { stdio: 'pipe' })
      expect(read).toThrow(/database is locked/)
      for (const finish of held.waiting) finish()
      expect((await run).complete).toBe(true)
      expect(String(read())).toContain('award-0')
    })

    test('refuses a run while it reads', async () => {
      const { client } = setup()
      const path = newPath()
      await rewardWallets(client, awards(1), { ledger: fileLedger(path) })
      const shell: ChildProcess = spawn(sqlite3 as string, [path], { stdio: 'pipe' })
      const ended = once(shell, 'exit')
      onTestFinished(() => void shell.kill('SIGKILL'))
      shell.stdin?.write('BEGIN; SELECT count(*) FROM awards;\n')
      await once(shell.stdout as NonNullable<ChildProcess['stdout']>, 'data')
      await expectRefused(path)
      shell.stdin?.end()
      await ended
      expect((await rewardWallets(client, awards(1), { ledger: fileLedger(path) })).fromLedger).toBe(1)
    })
  },
)

describe('under the permission model of Node.js', () => {
  const [major = 0] = process.versions.node.split('.').map(Number)
  const model = major >= 24 ? '--permission' : '--experimental-permission'

  /** Runs the awards of the program over a path, with the given permissions. */
  async function runWith(path: string, ...permissions: string[]) {
    const service = createCampaignService()
    const { url, close } = await service.listen()
    onTestFinished(close)
    const task = { baseUrl: url, ledger: { path }, rows: [0, 3] as const, concurrency: 2, timeoutMs: 10_000 }
    // Packages are read from the repository; Node.js 25 and later restrict the network, too.
    const others = [`--allow-fs-read=${process.cwd()}`, ...(major >= 25 ? ['--allow-net'] : [])]
    return new RunProcess(pathOf(PROGRAM), task, [model, ...others, ...permissions]).step('report', 'error')
  }

  test('a run needs access to its file alone', async () => {
    const path = newPath()
    const end = await runWith(path, `--allow-fs-read=${path}`, `--allow-fs-write=${path}`)
    expect(end).toMatchObject({ step: 'report', report: { counts: counts({ awarded: 3 }), complete: true } })
  })

  test('a run without access says what to grant', async () => {
    const path = `${temporaryFolder()}/awards.ledger`
    for (const permissions of [[], [`--allow-fs-read=${dirname(path)}/*`]]) {
      expect(await runWith(path, ...permissions)).toMatchObject({
        name: 'ConfigurationError',
        message: expect.stringContaining(`grant --allow-fs-read=${path} and --allow-fs-write=${path}`),
      })
    }
  })
})

import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createSecureServer as createSecureHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { TestAuthority } from '../node/certificates.ts'
import { skipsWithout } from '../support/skips-without.ts'
import { withParty } from './award/set-up.ts'
import { deviatingServer } from './check/deviation.ts'
import { runProcess, scratchFolder, startProcess } from './command.ts'
import { listeningService } from './service.ts'

// The command as a process: signals, pipes, exit codes, a full disk, the environment. Everything else runs in the process of
// the tests.

const DEMO = ['--pid', 'demo']
const SEND = [...DEMO, '--yes']

test('--version prints the version of the package and nothing else', async () => {
  for (const flag of ['--version', '-V']) {
    expect(await runProcess([flag])).toEqual({ code: 0, signal: null, stdout: `${manifest.version}\n`, stderr: '' })
  }
})

test('a pipe is accepted as a list', async () => {
  const { awardProcess, made } = await withParty(3)
  const within = ['bash', '-c', 'exec "$@" < <(cat party.csv)', 'bash']
  const args = ['/dev/stdin', ...SEND, '--json']
  expect(await awardProcess(args, { within })).toMatchObject({ code: 2 })
  expect(await awardProcess([...args, '--ledger', 'my.ledger'], { within })).toMatchObject({ code: 0 })
  expect(made()).toHaveLength(3)
})

// A limit of the file size has the effect of a full disk.
const onFullDisk = (kilobytes: number) => ({ within: ['bash', '-c', `ulimit -f ${kilobytes}; exec "$0" "$@"`] })

test('a full disk: exit code 2 if nothing was sent, and 5 if the ledger has an unknown outcome', async () => {
  const { award, awardProcess, service } = await withParty(20)
  expect(await awardProcess(['party.csv', ...SEND, '--ledger', 'other'], onFullDisk(0))).toMatchObject({ code: 2 })
  service.fail({ on: 'rewardWallet', kind: 'applied_then_reset', times: 1 })
  service.fail({ on: 'getUserProgress', kind: 'status', status: 400, times: 99 })
  expect(await award(['party.csv', ...SEND])).toMatchObject({ code: 5 })
  for (const kilobytes of [0, 4]) {
    const { code, stdout, stderr } = await awardProcess(['party.csv', ...SEND], onFullDisk(kilobytes))
    expect({ kilobytes, code }).toEqual({ kilobytes, code: 5 })
    expect(stdout + stderr).toContain('the ledger cannot be written: ')
    expect(stderr).toContain('make the ledger writable')
  }
})

test('names the Node.js version that it needs, if this one has no node:sqlite', async () => {
  const { awardProcess, service } = await withParty(1)
  const env = { NODE_OPTIONS: '--no-experimental-sqlite' }
  const { code, stdout, stderr } = await awardProcess(['party.csv', ...SEND], { env })
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(/^error award needs Node\.js 22\.13 or newer, for its ledger in SQLite: this is v\d+\S+\n$/m)
  expect(service.requests).toEqual([])
})

test('check does not change the earlier profile if it is interrupted', async () => {
  const folder = scratchFolder()
  const file = join(folder, 'profile.json')
  writeFileSync(file, 'earlier')
  let onRequest = () => {}
  const requested = new Promise<void>((resolve) => {
    onRequest = resolve
  })
  const { env } = await deviatingServer(() => {
    onRequest()
    return new Promise<Response>(() => undefined)
  })
  const { child, ended } = await startProcess(['check', '--pid', 'demo', '--save', file], { env })
  await requested
  child.kill('SIGINT')
  expect((await ended).signal).toBe('SIGINT')
  expect([readFileSync(file, 'utf8'), readdirSync(folder)]).toEqual(['earlier', ['profile.json']])
})

test('a signal ends call during a read', async () => {
  const { env, service } = await listeningService()
  service.fail({ kind: 'hang', times: 1 })
  const read = await startProcess(['call', 'getCampaignInfo', '--pid', 'demo'], { env })
  await expect.poll(() => service.requests.length).toBe(1)
  read.kill('SIGINT')
  expect(await read.ended).toMatchObject({ code: null, signal: 'SIGINT' })
})

test('a closed output pipe is not an error', async () => {
  const { child, ended } = await startProcess(['--help'])
  child.stdout?.destroy()
  child.stderr?.destroy()
  expect(await ended).toMatchObject({ code: 0, signal: null })
})

const devFull = existsSync('/dev/full') ? undefined : 'there is no /dev/full'

test.skipIf(skipsWithout('a full device', devFull))('a result that cannot be written causes exit code 1', async () => {
  const within = ['sh', '-c', 'exec "$@" > /dev/full', 'sh']
  for (const words of [['--help'], ['--json', 'call', 'getCampaignInfo', '--pid', 'demo']]) {
    const { env } = await listeningService()
    const { code, stderr } = await runProcess(words, { env, within })
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('cannot be written: the disk is full'),
    })
  }
  // An earlier failure decides the exit code.
  expect(await runProcess(['--json', 'dve'], { within })).toMatchObject({ code: 2 })
})

test('runs without a home directory', async () => {
  expect(await runProcess(['--help'], { env: { HOME: '/nonexistent' } })).toMatchObject({ code: 0, stderr: '' })
})

describe('webhook', () => {
  const env = { CAMPAIGN_WEBHOOK_SECRET: 'a secret of the webhook' }

  test('send trusts the authority of NODE_EXTRA_CA_CERTS, and says that a receiver accepts HTTP/2 only', async () => {
    const authority = await TestAuthority.create()
    const server = createSecureHttp2Server(await authority.issue('localhost'))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const file = join(scratchFolder(), 'authority.pem')
    writeFileSync(file, authority.cert)
    const trusting = { ...env, NODE_EXTRA_CA_CERTS: file }
    const ended = await runProcess(['webhook', 'send', `https://localhost:${port}/`], { env: trusting })
    expect(ended).toMatchObject({ code: 4, stderr: expect.stringContaining('the receiver accepts HTTP/2 only') })
  })

  test('listen stops when the reader of its output closes the pipe', async () => {
    const listening = await startProcess(['webhook', 'listen', '--port', '0'], { env })
    const [, url = ''] = await listening.until('stderr', /listening at (\S+)/)
    listening.child.stdout?.destroy()
    await fetch(url, { method: 'POST', body: '{}' })
    await fetch(url, { method: 'POST', body: '{}' }).catch(() => undefined)
    expect(await listening.ended).toMatchObject({ code: 1, signal: null })
  })
})

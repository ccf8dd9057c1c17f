import { execFileSync } from 'node:child_process'
import { createHash, randomFillSync } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { CampaignClient, ConfigurationError } from 'campaign-client'
import { type AwardRow, fileLedger, readLedger, rewardWallets } from 'campaign-client/bulk'
import fc from 'fast-check'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { fileLedgerOn } from '../../src/bulk/ledger/file/file-ledger.ts'
import { groupOf } from '../../src/bulk/ledger/file/format.ts'
import { fileStorage, type LedgerFile, type LedgerStorage } from '../../src/bulk/ledger/file/storage.ts'
import { findProgram } from '../support/server-process.ts'
import {
  award,
  awards,
  counts,
  newPath,
  openFiles,
  recordFlushes,
  setup,
  stopErrorOf,
  temporaryFolder,
  verdictsOf,
} from './fixtures.ts'

/** Returns a token with these claims and an invalid signature. */
const jwt = (claims: object): string =>
  [{ alg: 'none' }, claims, 'signature']
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')

/** Writes a ledger with several verdicts. */
async function mixedLedger(path: string) {
  const { client, service } = setup()
  service.fail({ on: 'rewardWallet', kind: 'applied_then_reset', times: 2 })
  service.fail({ on: 'rewardWallet', kind: 'status', status: 400, times: 2 })
  service.fail({ on: 'rewardWallet', kind: 'status', status: 429, headers: { 'retry-after': '0' } })
  await rewardWallets(client, awards(12), { ledger: fileLedger(path), concurrency: 1 })
  return { client, service }
}

describe('the format', () => {
  test('has lines of JSON in groups with chained checksums', async () => {
    const path = newPath()
    await mixedLedger(path)
    const text = readFileSync(path, 'utf8')
    expect(text.endsWith('\n')).toBe(true)
    const lines = text.trimEnd().split('\n')
    expect(JSON.parse(lines[0] as string)).toEqual({
      ledger: 'campaign-client awards',
      version: 1,
      run: 'default',
      target: { address: 'https://service.example/api/v1/', issuer: null, subject: null },
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
    let sum = ''
    let group: string[] = []
    const kinds = new Set<string>()
    for (const line of lines) {
      const read = JSON.parse(line) as Record<string, unknown>
      expect(JSON.stringify(read)).toBe(line)
      if (read.commit === undefined) {
        group.push(line)
        kinds.add(Object.keys(read)[0] as string)
        continue
      }
      const bytes = group.map((each) => `${each}\n`).join('')
      expect(read.commit).toBe(Buffer.byteLength(bytes))
      expect(read.after).toBe(sum)
      sum = createHash('sha256').update(sum).update(bytes).digest('hex').slice(0, 16)
      expect(read.sum).toBe(sum)
      group = []
    }
    expect(group).toEqual([])
    expect([...kinds].sort()).toEqual(['intent', 'ledger', 'released', 'verdict'])
  })

  test('has the reason of a rejection, but never a token', async () => {
    const token = jwt({ iss: 'https://issuer.example', sub: 'bulk-job', exp: 9_999_999_999 })
    const { client, service } = setup({ accessToken: token })
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400, body: { error: { code: 400, message: token } } })
    const path = newPath()
    await rewardWallets(client, awards(2), { ledger: fileLedger(path), concurrency: 1 })
    const text = readFileSync(path, 'utf8')
    expect(text).toContain('"verdict":"rejected"')
    expect(text).toContain('"issuer":"https://issuer.example","subject":"bulk-job"')
    for (const part of token.split('.')) expect(text).not.toContain(part)
    expect((await readLedger(path))[0]?.error).toEqual({
      code: 'bad_request',
      status: 400,
      message: expect.stringContaining('HTTP 400'),
    })
  })

  const jq = findProgram('jq')
  test.skipIf(jq === undefined)('can be read by jq', async () => {
    const path = newPath()
    await mixedLedger(path)
    const filter = 'select(.verdict == "rejected") | .id'
    expect(execFileSync(jq as string, ['-r', filter, path], { encoding: 'utf8' })).toBe('award-2\naward-3\n')
  })
})

describe('the file', () => {
  test('is readable by its owner only; wider permissions are removed', async () => {
    const { client } = setup()
    const path = newPath()
    await rewardWallets(client, awards(1), { ledger: fileLedger(path) })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    chmodSync(path, 0o644)
    await rewardWallets(client, awards(1), { ledger: fileLedger(path) })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(existsSync(`${path}.lock`)).toBe(false)
    expect(existsSync(`${path}.new`)).toBe(false)
    expect(openFiles(path)).toEqual([])
  })

  test('and its folder are flushed before the first request', async () => {
    const path = newPath()
    const flushes = await recordFlushes()
    let atRequest: string[] = []
    const recording = {
      async rewardWallet() {
        atRequest = [...flushes]
      },
    }
    await rewardWallets(recording, awards(1), { ledger: fileLedger(path) })
    // The new file, its folder, the opened file, and the intent.
    expect(atRequest).toEqual([`${path}.new`, dirname(path), path, path])
  })

  test('has an absolute path, and the run has a name', () => {
    expect(fileLedger('awards.ledger')).toMatchObject({ kind: 'file', run: 'default', path: resolve('awards.ledger') })
    expect(fileLedger('awards.ledger', { run: 'launch' }).run).toBe('launch')
  })

  test('is created even if a crashed run left a temporary file', async () => {
    const { client } = setup()
    const path = newPath()
    writeFileSync(`${path}.new`, '{"ledger":"campaign-cl')
    expect((await rewardWallets(client, awards(1), { ledger: fileLedger(path) })).complete).toBe(true)
  })

  test('leaves no temporary file if it cannot be created', async () => {
    const path = newPath()
    mkdirSync(join(path, 'folder'), { recursive: true })
    await expect(fileStorage.create(path, Buffer.from('x'))).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST/)
    expect(readdirSync(dirname(path))).toEqual(['awards.ledger'])
  })

  const refused = async (path: string, words: RegExp, options = {}) => {
    const { client, sent } = setup()
    const before = existsSync(path) && statSync(path).isFile() ? readFileSync(path) : undefined
    const run = rewardWallets(client, awards(1), { ledger: fileLedger(path, options) })
    await expect(run).rejects.toThrow(ConfigurationError)
    await expect(run).rejects.toThrow(words)
    await expect(run).rejects.toThrow(path)
    expect(sent()).toBe(0)
    expect(existsSync(`${path}.lock`)).toBe(false)
    expect(openFiles(path)).toEqual([])
    if (before) expect(readFileSync(path).equals(before)).toBe(true)
  }

  test('is refused if it is a symbolic link', async () => {
    const target = newPath()
    const link = join(temporaryFolder(), 'link')
    symlinkSync(target, link)
    await refused(link, /it is a symbolic link/)
    expect(existsSync(target)).toBe(false)
    await mixedLedger(target)
    await refused(link, /it is a symbolic link/)
    await expect(readLedger(link)).rejects.toThrow('it is a symbolic link')
  })

  test('is refused if it has two hard links', async () => {
    const path = newPath()
    await mixedLedger(path)
    const link = join(temporaryFolder(), 'link')
    linkSync(path, link)
    await refused(path, /it has 2 hard links/)
    await refused(link, /it has 2 hard links/)
    await expect(readLedger(link)).rejects.toThrow('it has 2 hard links; remove all but one')
  })

  test.each([
    ['a CSV file', 'address,xp\n0x1,5\n', /it is not a ledger/],
    ['an empty file', '', /it is empty/],
    ['a binary file', '\u0000\u0001\n\n', /it is not a ledger/],
    ['a commit without a header', '{"commit":1,"sum":"0000000000000000"}\n', /it is not a ledger/],
    [
      'half a header',
      '{"ledger":"campaign-client awards","version":1,"run":"de',
      /its header, the first line, is damaged/,
    ],
    [
      'a header without its commit',
      '{"ledger":"campaign-client awards","version":1,"run":"default","target":null,"at":"2026-11-21T21:06:00.123Z"}\n',
      /its header, the first line, is damaged/,
    ],
    [
      'a header with a number as the run',
      '{"ledger":"campaign-client awards","version":1,"run":5,"target":null}\n',
      /its header, the first line, is damaged/,
    ],
    [
      'a header with a string as the target',
      '{"ledger":"campaign-client awards","version":1,"run":"default","target":"x"}\n',
      /its header, the first line, is damaged/,
    ],
    [
      'a header with a string as the version',
      '{"ledger":"campaign-client awards","version":"1","run":"default","target":null}\n',
      /its header, the first line, is damaged/,
    ],
    ['a ledger of another program', '{"ledger":"campaign-client awards 2","version":1}\n', /it is not a ledger/],
    [
      'another version',
      '{"ledger":"campaign-client awards","version":2,"records":"elsewhere"}\n',
      /it has version 2 of the format/,
    ],
  ])('%s is refused and not changed', async (_, content, words) => {
    const path = newPath()
    writeFileSync(path, content)
    await refused(path, words)
    await expect(readLedger(path)).rejects.toThrow(words)
  })

  test('another run is refused', async () => {
    const path = newPath()
    await mixedLedger(path)
    await refused(path, /it belongs to the run "default", and this is the run "production"/, { run: 'production' })
  })
})

describe('the target', () => {
  const clientOf = (baseUrl: string, accessToken: string) => {
    const { service } = setup()
    return new CampaignClient({ baseUrl, accessToken, fetch: service.fetch })
  }
  const here = 'https://service.example/api/v1'
  const token = jwt({ iss: 'test', sub: 'job' })

  test.each([
    [
      'another address',
      'https://other.example/api/v1',
      token,
      /another service: "https:\/\/service.example\/api\/v1\/"/,
    ],
    [
      'another issuer',
      here,
      jwt({ iss: 'production', sub: 'job' }),
      /another issuer \('iss'\) of the access token: "test", and the client now has "production"/,
    ],
    ['another subject', here, jwt({ iss: 'test', sub: 'other' }), /another subject/],
    ['an opaque token', here, 'opaque', /issuer .* "test", and the client now has none/],
  ])('%s is refused', async (_, baseUrl, accessToken, words) => {
    const path = newPath()
    await rewardWallets(clientOf(here, token), awards(1), { ledger: fileLedger(path) })
    const run = rewardWallets(clientOf(baseUrl, accessToken), awards(1), { ledger: fileLedger(path) })
    await expect(run).rejects.toThrow(ConfigurationError)
    await expect(run).rejects.toThrow(words)
    await expect(run).rejects.not.toThrow(accessToken)
  })

  test('a new token of the same account is accepted, and so is a client of another class', async () => {
    const path = newPath()
    const client = clientOf(`${here}/`, token)
    await rewardWallets(client, awards(1), { ledger: fileLedger(path) })
    const renewed = clientOf(here, jwt({ iss: 'test', sub: 'job', iat: 5 }))
    expect((await rewardWallets(renewed, awards(2), { ledger: fileLedger(path) })).fromLedger).toBe(1)
    const wrapped = { rewardWallet: (row: AwardRow) => client.rewardWallet(row) }
    expect((await rewardWallets(wrapped, awards(2), { ledger: fileLedger(path) })).fromLedger).toBe(2)
  })
})

describe('damage', () => {
  let whole: Buffer
  let entries: Record<string, string>
  /** The position of the last complete group. */
  let lastGroup: number

  beforeAll(async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'campaign-client-bulk-')), 'awards.ledger')
    await mixedLedger(path)
    whole = readFileSync(path)
    entries = await verdictsOf(path)
    const commits = [...whole.toString('latin1').matchAll(/\{"commit":[^\n]+\n/g)]
    const [before] = commits.slice(-2)
    lastGroup = (before?.index ?? 0) + (before?.[0].length ?? 0)
    rmSync(dirname(path), { recursive: true })
  })

  /** Expects that a run and `readLedger` refuse these bytes and do not change the file. */
  const refusedAsDamaged = async (bytes: Buffer) => {
    const path = newPath()
    writeFileSync(path, bytes)
    const run = rewardWallets(setup().client, awards(1), { ledger: fileLedger(path) })
    await expect(run).rejects.toThrow(ConfigurationError)
    await expect(run).rejects.toThrow("can't be used")
    await expect(readLedger(path)).rejects.toThrow(ConfigurationError)
    expect(readdirSync(dirname(path))).toEqual(['awards.ledger'])
    expect(readFileSync(path).equals(bytes)).toBe(true)
  }

  const changedAt = (at: number, change: number): Buffer => {
    const bytes = Buffer.from(whole)
    bytes[at] = (bytes[at] as number) ^ change
    return bytes
  }

  test('any changed byte before the last group is refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(lastGroup - 1), fc.integer({ min: 1, max: 255 }), (at, change) =>
        refusedAsDamaged(changedAt(at, change)),
      ),
      { numRuns: 100 },
    )
  })

  test('each changed byte of the commit before the last group is refused', async () => {
    const line = whole.lastIndexOf('{"commit":', lastGroup - 1)
    for (let at = line; at < lastGroup; at++) await refusedAsDamaged(changedAt(at, 1))
  })

  test.each([
    ['zeros', (hole: Buffer) => hole.fill(0)],
    ['line breaks', (hole: Buffer) => hole.fill('\n')],
    ['noise', (hole: Buffer) => randomFillSync(hole)],
  ])('%s before the last group are refused', async (_, fill) => {
    await fc.assert(
      // The byte before the last group is a line break already.
      fc.asyncProperty(fc.nat(lastGroup - 2), async (from) => {
        const bytes = Buffer.from(whole)
        fill(bytes.subarray(from, lastGroup))
        await refusedAsDamaged(bytes)
      }),
      { numRuns: 25 },
    )
  })

  test('a gap before the last group is refused, even if one read ends within the last commit', async () => {
    const READ_AT_ONCE = 1 << 20
    const lastCommit = whole.lastIndexOf('{"commit":') - lastGroup
    for (let cut = -10; cut < 130; cut += 10) {
      const gap = Buffer.alloc(READ_AT_ONCE - lastCommit - cut)
      await refusedAsDamaged(Buffer.concat([whole.subarray(0, lastGroup), gap, whole.subarray(lastGroup)]))
    }
  })

  test('zeros across the last two groups are refused if the last commit is intact', async () => {
    const secondLastCommit = whole.lastIndexOf('{"commit":', lastGroup - 1)
    const lastCommit = whole.lastIndexOf('{"commit":')
    for (let end = lastGroup; end < lastCommit; end += 7) {
      const bytes = Buffer.from(whole)
      bytes.fill(0, secondLastCommit, end)
      await refusedAsDamaged(bytes)
    }
  })

  test('lines that moved across the commit before the last group are refused', async () => {
    const secondLastCommit = whole.lastIndexOf('{"commit":', lastGroup - 1)
    const firstLineEnd = whole.indexOf('\n', lastGroup) + 1
    await refusedAsDamaged(
      Buffer.concat([
        whole.subarray(0, secondLastCommit),
        whole.subarray(lastGroup, firstLineEnd),
        whole.subarray(secondLastCommit, lastGroup),
        whole.subarray(firstLineEnd),
      ]),
    )
  })

  test('removed or inserted bytes before the last group are refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(lastGroup - 2), fc.integer({ min: 1, max: 100 }), async (at, length) => {
        const end = Math.min(at + length, lastGroup)
        await refusedAsDamaged(Buffer.concat([whole.subarray(0, at), whole.subarray(end)]))
        await refusedAsDamaged(Buffer.concat([whole.subarray(0, at), Buffer.alloc(length, 'x'), whole.subarray(at)]))
      }),
      { numRuns: 20 },
    )
  })

  test('a missing, duplicate or moved group is refused', async () => {
    const { client } = setup()
    const groups = whole.toString('latin1').split(/(?<=\{"commit":[^\n]+\n)/)
    expect(groups.length).toBeGreaterThan(5)
    const [header = '', first = '', second = '', ...rest] = groups
    for (const changed of [
      [header, second, ...rest],
      [header, first, first, second, ...rest],
      [header, second, first, ...rest],
      [first, header, second, ...rest],
    ]) {
      const path = newPath()
      writeFileSync(path, changed.join(''), 'latin1')
      const run = rewardWallets(client, awards(1), { ledger: fileLedger(path) })
      await expect(run).rejects.toThrow(ConfigurationError)
    }
  })

  test('an incomplete last group is ignored and moved to another file', { timeout: 60_000 }, async () => {
    const { client } = setup()
    const path = newPath()
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: lastGroup, max: whole.length - 1 }), async (length) => {
        writeFileSync(path, whole)
        truncateSync(path, length)
        const found = await verdictsOf(path)
        for (const [id, verdict] of Object.entries(found))
          if (verdict !== 'indeterminate') expect(verdict).toBe(entries[id])
        await rewardWallets(client, [], { ledger: fileLedger(path) })
        expect(statSync(path).size).toBe(lastGroup)
        const torn = `${path}.torn-${lastGroup}`
        expect(existsSync(torn)).toBe(length > lastGroup)
        if (length === lastGroup) return
        expect(readFileSync(torn).equals(whole.subarray(lastGroup, length))).toBe(true)
        expect(statSync(torn).mode & 0o777).toBe(0o600)
        rmSync(torn)
      }),
      { numRuns: 30 },
    )
  })

  test.each([
    ['zeros', Buffer.alloc(5_000)],
    ['more bytes than are read at once', Buffer.alloc(3 << 20)],
    ['half a line', Buffer.from('{"intent":"x","addr')],
    ['lines without a commit', Buffer.from('{"intent":"x"}\n{"verdict":"awarded","id":"x"}\n')],
    [
      'a group whose sum is wrong',
      Buffer.from('{"released":"x","at":""}\n{"commit":25,"after":"","sum":"0000000000000000"}\n'),
    ],
    ['half a commit', Buffer.from('{"commit":1}\n')],
    [
      'a page of zeros before a whole commit',
      Buffer.concat([
        Buffer.alloc(4_096),
        Buffer.from('\n{"commit":4097,"after":"0123456789abcdef","sum":"0123456789abcdef"}\n'),
      ]),
    ],
  ])('an incomplete group at the end is moved to another file: %s', async (_, rest) => {
    const { client } = setup()
    const path = newPath()
    writeFileSync(path, whole)
    appendFileSync(path, rest)
    expect(await verdictsOf(path)).toEqual(entries)
    await rewardWallets(client, [], { ledger: fileLedger(path) })
    expect(readFileSync(path).equals(whole)).toBe(true)
    expect(readFileSync(`${path}.torn-${whole.length}`).equals(rest)).toBe(true)
  })

  test('an edited ledger is refused with the line of the first change', async () => {
    const { client } = setup()
    const path = newPath()
    writeFileSync(path, whole.toString('utf8').replace('"xp":5,', '"xp":50,'))
    await expect(rewardWallets(client, awards(1), { ledger: fileLedger(path) })).rejects.toThrow(
      /it is damaged from line \d+ on\. Restore it from a backup/,
    )
  })

  test('intact groups with unrecognised lines are refused', async () => {
    const { client } = setup()
    const linesOfWhole = whole.toString('latin1').split('\n').length - 1
    for (const [line, problem] of [
      ['{"verdict":"awarded","id":"never begun","at":"2026-11-21T21:06:00.123Z"}', 'no earlier line has its id'],
      ['{"verdict":"gone","id":"award-1"}', 'unrecognised entry'],
      ['{}', 'unrecognised entry'],
    ] as const) {
      const words = `line ${linesOfWhole + 2}: ${problem}`
      const path = newPath()
      writeFileSync(path, whole)
      const last = /"sum":"([0-9a-f]{16})"\}\n$/.exec(whole.toString('latin1'))?.[1] ?? ''
      appendFileSync(path, groupOf(last, ['{"released":"award-1","at":""}\n', `${line}\n`]).bytes)
      await expect(rewardWallets(client, awards(1), { ledger: fileLedger(path) })).rejects.toThrow(words)
      await expect(readLedger(path)).rejects.toThrow(words)
    }
  })
})

describe('an attempt whose process was killed', () => {
  /** Makes the award, and copies the ledger before the verdict is recorded. */
  const killedCopy = async (path: string, client: CampaignClient): Promise<string> => {
    const copy = newPath()
    const copying = {
      async rewardWallet(row: AwardRow) {
        await client.rewardWallet(row).catch(() => undefined)
        copyFileSync(path, copy)
      },
    }
    await rewardWallets(copying, awards(1), { ledger: fileLedger(path), retryRejected: true })
    return copy
  }

  test('is indeterminate, and a refusal in the next run makes the award unconfirmed', async () => {
    const { client } = setup()
    const path = await killedCopy(newPath(), client)
    expect(await verdictsOf(path)).toEqual({ 'award-0': 'indeterminate' })
    const report = await rewardWallets(client, awards(1), { ledger: fileLedger(path) })
    expect(report.counts).toEqual(counts({ unconfirmed: 1 }))
  })

  test('replaces the verdict of an earlier attempt', async () => {
    const { client, service } = setup()
    const original = newPath()
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400 })
    await rewardWallets(client, awards(1), { ledger: fileLedger(original) })
    const [rejected] = await readLedger(original)
    const path = await killedCopy(original, client)
    const [entry] = await readLedger(path)
    expect(entry).toEqual({ ...award(0), verdict: 'indeterminate', at: expect.any(String) })
    expect(Date.parse(entry?.at ?? '')).toBeGreaterThanOrEqual(Date.parse(rejected?.at ?? ''))
    const report = await rewardWallets(client, awards(1), { ledger: fileLedger(path) })
    expect(report.counts).toEqual(counts({ unconfirmed: 1 }))
  })
})

test('nothing is written after a failed flush, not even the verdict of a call in flight', async () => {
  const { client } = setup()
  const MAX_TURNS = 10_000
  const failure = Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' })
  let flushes = 0
  let writesAfterFailure = 0
  const storage: LedgerStorage = {
    ...fileStorage,
    async open(path, access) {
      const file = (await fileStorage.open(path, access)) as LedgerFile
      return (
        file && {
          ...file,
          async flush() {
            if (++flushes === 4) throw failure
            await file.flush()
          },
          async write(bytes, position) {
            if (flushes >= 4) writesAfterFailure++
            await file.write(bytes, position)
          },
        }
      )
    },
  }
  const slow = {
    async rewardWallet(row: AwardRow) {
      for (let turns = 0; row.id === 'award-0' && flushes < 4 && turns < MAX_TURNS; turns++) await turn()
      await turn()
      await client.rewardWallet(row)
    },
  }
  const ledger = fileLedgerOn(storage, newPath())
  const stop = await stopErrorOf(rewardWallets(slow, awards(50), { ledger, concurrency: 4 }))
  expect(stop.cause).toBe(failure)
  expect(writesAfterFailure).toBe(0)
})

describe('a run stops if another program', () => {
  test.each([
    ['appends to its ledger', (path: string) => appendFileSync(path, '\n'), /another program has changed it/],
    ['truncates its ledger', (path: string) => truncateSync(path, 200), /another program has changed it/],
    [
      'replaces its ledger, like an editor',
      (path: string) => {
        writeFileSync(`${path}.saved`, readFileSync(path))
        renameSync(`${path}.saved`, path)
      },
      /another file has replaced it/,
    ],
    ['deletes its ledger', (path: string) => rmSync(path), /ENOENT/],
  ])('%s, even during a write', async (_, change, words) => {
    for (let attempt = 0; attempt < 10; attempt++) {
      const { client, service } = setup()
      const path = newPath()
      let made = 0
      const interfering = {
        async rewardWallet(row: AwardRow) {
          if (++made === 20 + attempt) change(path)
          await client.rewardWallet(row)
        },
      }
      const stop = await stopErrorOf(
        rewardWallets(interfering, awards(300), { ledger: fileLedger(path), concurrency: 4 }),
      )
      expect(stop.message).toMatch(words)
      expect(stop.message).not.toMatch(/can't be used.*can't be used/)
      // If the file was deleted, the cause is the system's error.
      expect(stop.cause instanceof ConfigurationError || existsSync(path) === false).toBe(true)
      // Awards in flight, and awards with a flushed intent, may still be made.
      expect(service.state.awards.length).toBeLessThanOrEqual(20 + attempt + 2 * 2 * 4)
    }
  })
})

test.each([
  ['to 1970', 0],
  ['to the year 12345', Date.UTC(12_345, 0)],
])('a clock that jumps %s changes no verdict', async (_, time) => {
  const { client } = setup()
  const path = newPath()
  await rewardWallets(client, awards(2), { ledger: fileLedger(path) })
  vi.useFakeTimers({ toFake: ['Date'], now: time })
  try {
    expect((await rewardWallets(client, awards(4), { ledger: fileLedger(path) })).fromLedger).toBe(2)
  } finally {
    vi.useRealTimers()
  }
  expect((await rewardWallets(client, awards(4), { ledger: fileLedger(path) })).fromLedger).toBe(4)
  expect(await readLedger(path)).toHaveLength(4)
})

describe('readLedger', () => {
  test('gives each id once with its last verdict, as an array or by iteration', async () => {
    const path = newPath()
    const { client, service } = await mixedLedger(path)
    // The service refuses the first two awards as duplicates: the first run made them.
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400, times: 3 })
    await rewardWallets(client, awards(12), { ledger: fileLedger(path), retryRejected: true, concurrency: 1 })
    const all = await readLedger(path)
    expect(new Set(all.map(({ id }) => id)).size).toBe(12)
    expect(counted(all)).toEqual({ awarded: 9, unconfirmed: 2, rejected: 1 })
    const one: unknown[] = []
    for await (const entry of readLedger(path)) one.push(entry)
    expect(one).toEqual(all)
    expect(all.find(({ id }) => id === 'award-5')).toEqual({
      ...award(5),
      verdict: 'awarded',
      at: expect.stringMatching(/Z$/),
    })
  })

  test('changes nothing, and works while a run writes', async () => {
    const { client } = setup()
    const path = newPath()
    let maxEntries = 0
    const watching = {
      async rewardWallet(row: AwardRow) {
        await client.rewardWallet(row)
        if (Number(row.id.split('-')[1]) % 10 === 0) maxEntries = Math.max(maxEntries, (await readLedger(path)).length)
      },
    }
    await rewardWallets(watching, awards(60), { ledger: fileLedger(path) })
    expect(maxEntries).toBeGreaterThan(30)
    const before = readFileSync(path)
    chmodSync(path, 0o644)
    writeFileSync(`${path}.new`, 'the copy of a run that starts')
    await readLedger(path)
    expect(readFileSync(path).equals(before)).toBe(true)
    expect(statSync(path).mode & 0o777).toBe(0o644)
    expect(existsSync(`${path}.new`)).toBe(true)
  })

  test('gives the earlier rejection if a retry ended without a verdict', async () => {
    const { client, service } = setup()
    const path = newPath()
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400 })
    await rewardWallets(client, awards(1), { ledger: fileLedger(path) })
    const before = await readLedger(path)
    expect(before).toMatchObject([{ verdict: 'rejected', error: { status: 400 } }])
    service.fail({ on: 'rewardWallet', kind: 'status', status: 403 })
    await rewardWallets(client, awards(1), { ledger: fileLedger(path), retryRejected: true })
    expect(await readLedger(path)).toEqual(before)
  })

  test('gives the corrected award of an id whose first attempt was not applied', async () => {
    const { client, service } = setup()
    const path = newPath()
    service.fail({ on: 'rewardWallet', kind: 'status', status: 401 })
    await stopErrorOf(rewardWallets(client, [award(0)], { ledger: fileLedger(path) }))
    expect(await readLedger(path)).toEqual([])
    const corrected = award(0, { xp: 70, pid: 'other', address: award(7).address })
    await rewardWallets(client, [corrected], { ledger: fileLedger(path) })
    expect(await readLedger(path)).toMatchObject([corrected])
    expect((await rewardWallets(client, [corrected], { ledger: fileLedger(path) })).fromLedger).toBe(1)
    const stop = await stopErrorOf(rewardWallets(client, [award(0)], { ledger: fileLedger(path) }))
    expect((stop.cause as Error).message).toContain('xp is 1, but the award with the id "award-0" has 70')
  })

  test('closes the file if the iteration stops early', async () => {
    const path = newPath()
    await mixedLedger(path)
    for await (const entry of readLedger(path)) {
      expect(entry.id).toBeDefined()
      break
    }
    expect(openFiles(path)).toEqual([])
  })

  test('rejects if there is no ledger', async () => {
    const path = newPath()
    await expect(readLedger(path)).rejects.toThrow(new ConfigurationError(`The ledger ${path} does not exist`))
  })
})

test('the ledger keeps long and unusual ids', { timeout: 30_000 }, async () => {
  const stub = { rewardWallet: async () => undefined }
  const path = newPath()
  const rows = Array.from({ length: 300 }, (_, number) =>
    award(number, { id: `${number}${'é"\\\n😀'.repeat(number * 20)}` }),
  )
  await rewardWallets(stub, rows, { ledger: fileLedger(path), concurrency: 100 })
  expect((await rewardWallets(stub, rows, { ledger: fileLedger(path) })).fromLedger).toBe(300)
  expect((await readLedger(path)).map(({ id }) => id).sort()).toEqual(rows.map(({ id }) => id).sort())
})

function counted(entries: readonly { verdict: string }[]): Record<string, number> {
  const found: Record<string, number> = {}
  for (const { verdict } of entries) found[verdict] = (found[verdict] ?? 0) + 1
  return found
}

import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { rewardId } from 'campaign-client/bulk'
import { parse } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'
import { describe, expect, test } from 'vitest'
import { FULL_SIZE } from '../../support/full-size.ts'
import { skipsWithout } from '../../support/skips-without.ts'
import { jsonOf, run, scratchFolder } from '../command.ts'
import { setUp, wallet } from './set-up.ts'

const missing = spawnSync('soffice', ['--version']).error && 'soffice (libreoffice-calc) is not installed'

/** A language of the spreadsheet, with the separator of its CSV files and its number at LibreOffice. */
interface Locale {
  readonly name: string
  readonly number: number
  readonly separator: ',' | ';'
}
const LOCALES: readonly Locale[] = [
  { name: 'en-US', number: 1033, separator: ',' },
  { name: 'de-DE', number: 1031, separator: ';' },
]

/** Opens a CSV file in LibreOffice, saves it as a workbook, opens the workbook and saves it as the CSV file. */
async function saveInSpreadsheet(path: string, { name, number, separator }: Locale): Promise<void> {
  const folder = scratchFolder()
  mkdirSync(join(folder, 'profile/user'), { recursive: true })
  writeFileSync(join(folder, 'profile/user/registrymodifications.xcu'), settingsOf(name))
  const profile = `-env:UserInstallation=${pathToFileURL(join(folder, 'profile')).href}`
  const convert = (...args: string[]) =>
    promisify(execFile)('soffice', [profile, '--headless', ...args], { cwd: folder, timeout: 120_000 })
  const filter = `${separator.charCodeAt(0)},34,76,1,,${number}`
  const sheet = join(folder, 'sheet.csv')
  writeFileSync(sheet, readFileSync(path))
  await convert(`--infilter=CSV:${filter}`, '--convert-to', 'xlsx', sheet)
  await convert('--convert-to', `csv:Text - txt - csv (StarCalc):${filter}`, join(folder, 'sheet.xlsx'))
  writeFileSync(path, readFileSync(sheet))
}

const settingsOf = (locale: string): string => `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Setup/L10N"><prop oor:name="ooSetupSystemLocale"><value>${locale}</value></prop></item>
</oor:items>
`

type Rows = Record<string, string>[]
const rowsOf = (path: string, delimiter: string): Rows =>
  parse(readFileSync(path), { bom: true, columns: true, delimiter })
const writeRows = (path: string, rows: Rows, delimiter: string): void =>
  writeFileSync(path, stringify(rows, { bom: true, header: true, delimiter }))

// A minute: the gate runs it once, with the other tests in full size.
describe.skipIf(!FULL_SIZE || skipsWithout('LibreOffice', missing))(
  'a month of a partner, with a spreadsheet in between',
  () => {
    test.each(LOCALES)(
      '$name: awards each wallet once, with the sums of the report',
      { timeout: 300_000 },
      async (locale) => {
        const { separator } = locale
        const { service, folder, env, award, startProcess } = await setUp()
        // German spreadsheets write 1.5 as a date, and the command refuses 1,5.
        const xpOf = (number: number): number => (separator === ',' ? number / 4 : number)
        const COUNT = 60
        const list: Rows = Array.from({ length: COUNT }, (_, index) => ({
          Note: ['Zoë', '-promo', 'a "quote"', '12,5', '00123'][index % 5] ?? '',
          Wallet: wallet(index + 1),
          Points: `${xpOf(index + 1)}`,
          Booking: `June, ${index + 1}`,
        }))
        writeRows(join(folder, 'june.csv'), list, separator)
        const columns = ['--columns', 'address=Wallet,xp=Points,reason=Booking']
        const args = ['june.csv', '--pid', 'demo', ...columns]

        // Another program has used the ids of three rows: the service refuses them.
        const refused = [1, 2, COUNT]
        for (const number of refused) {
          const id = rewardId({ pid: 'demo', address: wallet(number), reason: `June, ${number}` })
          const body = JSON.stringify({ address: wallet(999), pid: 'demo', id, xp: 1 })
          const headers = { authorization: 'Bearer any', 'content-type': 'application/json' }
          const response = await fetch(`${env.CAMPAIGN_BASE_URL}/wallet/reward`, { method: 'POST', headers, body })
          expect(response.status).toBe(200)
        }
        const made = () => service.state.awards.filter(({ address }) => address !== wallet(999))
        const wallets = () => new Set(made().map(({ address }) => address))

        const plan = jsonOf(await award([...args, '--dry-run', '--json']))
        const expected = `${plan.sha256}`.slice(0, 12)
        const send = [...args, '--yes', '--expect', expected, '--concurrency', '4']
        expect(await award([...send, '--dry-run'])).toMatchObject({ code: 0 })
        expect(await award([...args, '--dry-run', '--expect', '000000000000'])).toMatchObject({ code: 2 })
        expect(made()).toEqual([])

        const slowness = service.fail({ on: 'rewardWallet', kind: 'delay', delayMs: 200, times: Infinity })
        for (const [signal, count] of [
          ['SIGINT', 8],
          ['SIGKILL', 20],
        ] as const) {
          const running = await startProcess(send)
          await expect.poll(() => made().length, { interval: 5 }).toBeGreaterThanOrEqual(count)
          running.kill(signal)
          expect(await running.ended).toMatchObject({ signal })
        }
        slowness.cancel()
        expect(made().length).toBeLessThan(COUNT - refused.length)

        const reports = ['--report', 'report.csv', '--report', 'report.json']
        expect(await award([...send, ...reports])).toMatchObject({ code: 1 })
        expect(made()).toHaveLength(COUNT - refused.length)
        const sumOf = (): number => made().reduce((sum, { xp }) => sum + xp, 0)
        const { given } = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8'))
        expect(given).toMatchObject({ awards: COUNT - refused.length, xp: sumOf() })
        const report = join(folder, 'report.csv')
        const sumOfReport = (rows: Rows): number =>
          rows
            .filter(({ result_verdict }) => /^(?:awarded|alreadyAwarded)$/.test(result_verdict ?? ''))
            .reduce((sum, { result_xp }) => sum + Number(result_xp), 0)
        expect(sumOfReport(rowsOf(report, separator))).toBe(sumOf())

        // The report names the line of each refused row. These lines of the list get another reason.
        await saveInSpreadsheet(report, locale)
        const lines = rowsOf(report, separator).filter(({ result_verdict }) => result_verdict === 'rejected')
        const rejected = new Set(lines.map(({ result_line }) => Number(result_line)))
        const june = join(folder, 'june.csv')
        const corrected = rowsOf(june, separator).map((row, index) =>
          rejected.has(index + 2) ? { ...row, Booking: `${row.Booking}, again` } : row,
        )
        writeRows(june, corrected, separator)
        await saveInSpreadsheet(june, locale)
        const continued = [...args, '--yes']
        for (let times = 0; times < 2; times++) {
          expect(await award([...continued, '--report', 'last.json'])).toMatchObject({ code: 0 })
          expect([made().length, wallets().size]).toEqual([COUNT, COUNT])
        }
        expect(sumOf()).toBe(list.reduce((sum, { Points }) => sum + Number(Points), 0))
        expect(JSON.parse(readFileSync(join(folder, 'last.json'), 'utf8')).given).toMatchObject({
          awards: COUNT,
          xp: sumOf(),
        })

        const ledger = ['ledger', 'june.csv.ledger', '--verdict', 'rejected', '--explain', '--json']
        const explained = jsonOf(await run(ledger, { cwd: folder, env }))
        expect(explained.rows).toHaveLength(refused.length)
        // The service has moved: the same service under another URL.
        const moved = { CAMPAIGN_BASE_URL: env.CAMPAIGN_BASE_URL?.replace('127.0.0.1', 'localhost') ?? '' }
        const elsewhere = await award(continued, { env: moved })
        expect(elsewhere.code).toBe(2)
        const rebind = /--rebind \S+/.exec(elsewhere.stderr)?.[0].split(' ') ?? []
        expect(await award([...continued, ...rebind], { env: moved })).toMatchObject({ code: 0 })
        expect(made()).toHaveLength(COUNT)
      },
    )
  },
)

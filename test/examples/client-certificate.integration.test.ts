import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { TestAuthority } from '../node/certificates.ts'
import { compiled } from '../support/compiled.ts'
import { startConnectProxy } from '../support/connect-proxy.ts'
import { listenWithMutualTls, type MutualTlsService } from '../support/mutual-tls.ts'

let authority: TestAuthority
beforeAll(async () => {
  authority = await TestAuthority.create()
})

async function startService(): Promise<MutualTlsService> {
  const service = await listenWithMutualTls(authority)
  onTestFinished(service.close)
  return service
}

const EXAMPLE = 'examples/client-certificate.ts'
const pathOf = compiled(EXAMPLE)

/** Runs the example with these settings and a certificate of the authority. */
async function run(port: number, settings: Record<string, string> = {}): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'campaign-client-certificate-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const { cert, key } = await authority.issue('a-partner')
  const files = { CLIENT_CERT: cert, CLIENT_KEY: key, PRIVATE_CA: authority.cert }
  const env: NodeJS.ProcessEnv = { PATH: process.env.PATH }
  for (const [name, text] of Object.entries(files)) {
    env[name] = join(folder, name)
    writeFileSync(env[name], text)
  }
  const { stdout } = await promisify(execFile)(process.execPath, [pathOf(EXAMPLE)], {
    env: {
      ...env,
      CAMPAIGN_BASE_URL: `https://localhost:${port}/api/v1`,
      CAMPAIGN_ACCESS_TOKEN: 'a-token',
      CAMPAIGN_PID: 'demo',
      ...settings,
    },
  })
  return stdout
}

test('the example sends its certificate and ends', async () => {
  const { port, peers } = await startService()
  expect(await run(port)).toBe('Demo campaign has 1265 points\n')
  expect(peers).toEqual(['a-partner'])
})

test('the example sends its certificate through a proxy', async () => {
  const { port, peers } = await startService()
  const { host, targets } = await startConnectProxy()
  expect(await run(port, { HTTPS_PROXY: `http://${host}` })).toBe('Demo campaign has 1265 points\n')
  expect(targets).toEqual([`localhost:${port}`])
  expect(peers).toEqual(['a-partner'])
})

test('the service refuses the example without a certificate', async () => {
  const { port, peers } = await startService()
  await expect(run(port, { CLIENT_CERT: '', CLIENT_KEY: '' })).rejects.toThrow(/NetworkError/)
  expect(peers).toEqual([])
})

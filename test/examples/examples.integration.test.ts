import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { pathTo } from '../../scripts/repository.ts'
import { compiled } from '../support/compiled.ts'

const pathOf = compiled(
  'examples/award-with-reconciliation.ts',
  'examples/logging-pino.ts',
  'examples/metrics-prometheus.ts',
  'examples/proxy-dispatcher.ts',
  'examples/rotate-webhook-secret.ts',
  'examples/token-from-vault.ts',
  'examples/tracing-opentelemetry.ts',
  'examples/typed-metadata.ts',
  'examples/webhook-replay.ts',
)

/** Runs an example and returns its output. */
async function run(name: string, environment: Record<string, string> = {}): Promise<string> {
  const { DATABASE_URL: _, ...env } = process.env
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [pathOf(`examples/${name}.ts`)], {
    cwd: pathTo('.'),
    env: { ...env, ...environment },
    timeout: 180_000,
  })
  expect(stderr).toBe('')
  return stdout
}

test.concurrent('award-with-reconciliation: settles every award once', async () => {
  expect((await run('award-with-reconciliation')).trim().split('\n')).toEqual([
    'no error: awarded',
    'the same award again: already_awarded',
    'the response is lost: probably_awarded',
    'the connection is lost, twice: open',
    'the response is lost, twice: open',
    'a malformed address: rejected',
    'later, with the same id: awarded',
    'later, with the same id: probably_awarded',
    'the service has 4 awards: 0x111… 100 XP, 0x222… 100 XP, 0x444… 100 XP, 0x333… 100 XP',
  ])
})

test.concurrent('token-from-vault: sends one token request for three calls and another one after a 401', async () => {
  expect((await run('token-from-vault')).trim().split('\n')).toEqual([
    'three concurrent calls: 1 token request(s)',
    'the token was revoked: 2 token requests, and the call succeeded: 1215 XP',
    'revoked again while the vault is down: access_token, fetch failed',
  ])
})

test.concurrent('logging-pino: logs a line per attempt, without the token', async () => {
  const output = await run('logging-pino')
  const lines = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.map(({ level, attempt, msg }) => `${level} ${attempt} ${msg}`)).toEqual([
    '20 1 request to the campaign service',
    '40 1 error from the campaign service',
    '40 1 retry',
    '20 2 request to the campaign service',
    '40 2 retry',
    '20 3 request to the campaign service',
    '30 3 response from the campaign service',
    '20 1 request to the campaign service',
    '50 undefined call failed',
  ])
  expect(output).not.toContain('a-token-that-no-line-shows')
})

test.concurrent('metrics-prometheus: counts responses, handlers and rejections', async () => {
  const lines = (await run('metrics-prometheus'))
    .split('\n')
    .filter((line) => /^campaign_\w+_(count|total)\{/.test(line))
  expect(lines.sort()).toEqual([
    'campaign_call_seconds_count{operation="getUserProgress",result="access_denied"} 1',
    'campaign_call_seconds_count{operation="getUserProgress",result="ok"} 1',
    'campaign_response_seconds_count{operation="getUserProgress",status="200"} 1',
    'campaign_response_seconds_count{operation="getUserProgress",status="403"} 1',
    'campaign_webhook_handler_seconds_count{endpoint="campaign",kind="action_completed",outcome="handled"} 1',
    'campaign_webhook_rejected_total{endpoint="campaign",reason="signature_mismatch"} 1',
  ])
})

test.concurrent('rotate-webhook-secret: accepts all messages', async () => {
  expect((await run('rotate-webhook-secret')).trim().split('\n')).toEqual([
    'Before',
    '  action_completed, signed with the current secret',
    '1. Every receiver accepts the new and the old secret',
    '  action_completed, signed with the old secret',
    '2. The panel has the new secret, and its Test button shows 200',
    '  Test message, signed with the current secret',
    '  Status 200',
    '  action_completed, signed with the current secret',
    '3. After ten minutes all retries have ended. Remove the old one',
    '  action_completed, signed with the current secret',
    '4 messages, 0 lost',
  ])
})

test.concurrent('webhook-replay: handles every message once', async () => {
  expect((await run('webhook-replay')).trim().split('\n')).toEqual([
    'ten minutes with the bug: 4 undelivered, 6 pending, 0 handled',
    'seven minutes after the fix: 4 undelivered, 0 pending, 13 handled',
    'first replay: { handled: 4 }',
    'second replay: {}',
    '17 messages, 17 handled, each once: true',
  ])
})

test.concurrent('testing-in-ci: all tests pass', async () => {
  const { stdout } = await promisify(execFile)(
    pathTo('node_modules/.bin/tsx'),
    ['--test', 'examples/testing-in-ci.test.ts'],
    { cwd: pathTo('.') },
  )
  expect(stdout).toMatch(/^[#ℹ] pass 4$/m)
  expect(stdout).toMatch(/^[#ℹ] fail 0$/m)
})

test.concurrent('tracing-opentelemetry: creates a span per response within the span of its call', async () => {
  const spans = (await run('tracing-opentelemetry')).split('\n').map((line) => line.replace(/ \{.*/, ''))
  expect(spans).toEqual([
    '  GET /campaign/points [error]',
    '  GET /campaign/points [ok]',
    'show the leaderboard [ok]',
    '  · retry',
    'record feedback [error]',
    '',
  ])
})

test.concurrent('typed-metadata: returns metadata that matches the schema', async () => {
  const output = await run('typed-metadata')
  expect(output).toContain('connect-wallet: wallet')
  expect(output).toContain('share: no icon')
  expect(output).toContain('spread-the-word: megaphone')
})

test.concurrent('proxy-dispatcher: sends reads, writes and retries through the proxy', async () => {
  expect((await run('proxy-dispatcher')).trim().split('\n')).toEqual([
    'ada has rank 1',
    'requests through the proxy: 4',
    'through a tunnel: true',
  ])
})

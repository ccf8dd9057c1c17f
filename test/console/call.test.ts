import { CampaignClient } from 'campaign-client'
import { describe, expect, test } from 'vitest'
import { exampleRequests } from '../../src/endpoints/arguments.ts'
import type { OperationName } from '../../src/endpoints/index.ts'
import { operations } from '../contract/operations.ts'
import { openConsole, WALLET } from './open-console.ts'

const AWARD = { address: WALLET, pid: 'demo', id: 'by-form', xp: 250 }
const TOKEN = 'the-token-of-dev'

test('the methods are listed with the description and an example of each argument', async () => {
  const { act } = await openConsole()
  const methods = await act('listMethods', {})
  expect(methods.map(({ name }) => name)).toEqual(operations.map(({ name }) => name))
  for (const { name, fields } of operations) {
    const listed = methods.find((each) => each.name === name)?.arguments ?? []
    expect(listed.map((argument) => argument.name)).toEqual(Object.keys(fields))
    for (const { description, example } of listed) expect([description, String(example)]).not.toContain('')
  }
  expect(methods.find(({ name }) => name === 'registerWebhook')?.path).toBe('webhook')
})

test.each(operations)('$name is called over HTTP, and its code makes the same call', async ({ name, method }) => {
  const { act, service, changes } = await openConsole()
  const { key } = await act('callMethod', { name, given: { ...exampleRequests[name] } })
  expect(service.requests).toMatchObject([{ operation: name, method, status: 200, authorized: true }])
  expect((await changes()).requests.rows).toMatchObject([{ key, operation: name, status: 200, isFromForm: true }])
  const { typescript = '', curl, headers } = await act('readRequest', { key })
  expect(Object.keys(headers)).not.toContain('x-campaign-client-console')
  expect(curl).not.toContain('x-campaign-client-console')
  // The log redacts secrets.
  if (name === 'registerWebhook') return
  await runCode(typescript)
  const [first, second] = service.requests.map(({ operation, query, body }) => ({ operation, query, body }))
  expect(second).toEqual(first)
})

/** Runs code that imports the client, as a module would. */
async function runCode(code: string): Promise<void> {
  const AsyncFunction = (async () => {}).constructor as new (
    ...text: string[]
  ) => (...given: unknown[]) => Promise<void>
  const lines = code.replace("import { CampaignClient } from 'campaign-client'\n", '')
  const quiet = { log: () => {} }
  await new AsyncFunction('CampaignClient', 'console', lines)(CampaignClient, quiet).catch((error: unknown) => {
    // A second award with the same ID is refused.
    expect(error).toMatchObject({ name: 'BadRequestError' })
  })
}

test('values from outside stay text in the code', async () => {
  const { act, service } = await openConsole()
  const hostile = `'); throw new Error("out") //\`\${process.exit()}\n\u2028\u202e\\'`
  const { key } = await act('callMethod', { name: 'getInviteCode', given: { pid: 'demo', code: hostile } })
  const { typescript = '' } = await act('readRequest', { key })
  expect(typescript).not.toMatch(/[^\n -~]/)
  await runCode(typescript)
  expect(service.requests.map(({ query }) => query.code)).toEqual([[hostile], [hostile]])
})

test('a call whose arguments the client refuses names the field, and sends nothing', async () => {
  const { responseOf, service } = await openConsole()
  const call = (given: object) => responseOf('callMethod', { name: 'rewardWallet', given: given as never })
  expect(await call({ ...AWARD, address: '0x12' })).toEqual({
    error: 'address must be 0x and 40 hex digits.',
    field: 'address',
  })
  expect(await call({ ...AWARD, xp: 'ten' })).toMatchObject({ error: expect.stringMatching(/^xp: /), field: 'xp' })
  expect(await call({ address: WALLET, pid: 'demo', xp: 1 })).toMatchObject({ field: 'id' })
  expect(await responseOf('callMethod', { name: 'eraseAll' as OperationName, given: {} })).toMatchObject({
    field: 'name',
  })
  expect(service.requests).toEqual([])
})

test('a refusal by the service is shown as a request', async () => {
  const { act } = await openConsole()
  await act('callMethod', { name: 'rewardWallet', given: AWARD })
  const { key } = await act('callMethod', { name: 'rewardWallet', given: AWARD })
  expect(await act('readRequest', { key })).toMatchObject({
    status: 400,
    reason: expect.stringContaining('used before'),
  })
})

test.each(['hang', 'reset', 'garbage'] as const)(
  'a call that meets the fault %s is shown as a request',
  async (kind) => {
    const { act, service } = await openConsole()
    service.fail({ on: 'getCampaignPoints', kind })
    const { key } = await act('callMethod', { name: 'getCampaignPoints', given: { pid: 'demo' } })
    expect(await act('readRequest', { key })).toMatchObject({ fault: kind, operation: 'getCampaignPoints' })
  },
)

test('a request of other code has its arguments for the form; code for it only if the client accepts them', async () => {
  const { act, url } = await openConsole()
  const headers = { authorization: 'Bearer any', 'content-type': 'application/json' }
  const post = (body: string) => fetch(`${url}/wallet/reward`, { method: 'POST', headers, body })
  await post(JSON.stringify({ ...AWARD, xp: '250', more: 1 }))
  await post('[1]')
  await fetch(`${url}/unknown?a=1`, { headers })
  const wrong = await act('readRequest', { key: '1' })
  expect(wrong.given).toEqual({ ...AWARD, xp: '250', more: 1 })
  for (const key of ['1', '2', '3']) expect(await act('readRequest', { key })).not.toHaveProperty('typescript')
  for (const key of ['2', '3']) expect(await act('readRequest', { key })).not.toHaveProperty('given')
})

describe('with dev --token', () => {
  test('the form calls the service, and the page never gets the token', async () => {
    const { act, base, service } = await openConsole({ token: TOKEN })
    const { key } = await act('callMethod', { name: 'rewardWallet', given: AWARD })
    expect(service.requests).toMatchObject([{ status: 200, authorized: true }])
    const request = await act('readRequest', { key })
    expect(request.curl).toContain('$' + '{CAMPAIGN_ACCESS_TOKEN:-dev}')
    expect(request.typescript).toContain('process.env.CAMPAIGN_ACCESS_TOKEN')
    const sent = [JSON.stringify(request), JSON.stringify(await act('listMethods', {}))]
    for (const path of ['/', '/console/changes', '/console/seed.json', '/control/requests', '/control/state']) {
      sent.push(await (await fetch(base + path)).text())
    }
    expect(sent.join('\n')).not.toContain(TOKEN)
  })
})

import {
  AccessDeniedError,
  BadRequestError,
  CampaignClient,
  ReferralRejectedError,
  ServiceError,
  UnauthorizedError,
} from 'campaign-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callWithSample } from '../../scripts/samples.ts'
import { endpoints, type OperationName } from '../../src/endpoints/index.ts'
import { freePort, type ServerProcess, startServer } from '../support/server-process.ts'
import { skipsWithout } from '../support/skips-without.ts'
import { documentPath, missingTools, prism } from './tools.ts'

const operations = Object.keys(endpoints) as OperationName[]

/** Prism responds from docs/openapi.json and rejects requests that do not match it. */
describe.skipIf(skipsWithout('OpenAPI tools', missingTools))('the client with the mock server Prism', () => {
  let server: ServerProcess
  let baseUrl: string

  beforeAll(async () => {
    const port = await freePort()
    baseUrl = `http://127.0.0.1:${port}`
    const args = ['mock', documentPath, '--host', '127.0.0.1', '--port', `${port}`, '--errors']
    server = await startServer(prism, args, /Prism is listening/)
  })

  afterAll(() => server?.stop('SIGTERM'))

  const client = (prefer?: string) =>
    new CampaignClient({
      baseUrl,
      accessToken: 'a-token',
      webhookRegistrationPath: 'webhook',
      maxRetries: 0,
      ...(prefer !== undefined && { headers: { prefer } }),
    })

  test.each(operations)('sends a valid request for %s, and reads the example', async (operation) => {
    await expect(callWithSample(client(), operation)).resolves.not.toBeInstanceOf(Error)
  })

  test.each(operations)('reads random responses to %s that match the schema', async (operation) => {
    for (let round = 0; round < 10; round++) await callWithSample(client('dynamic=true'), operation)
  })

  test.each([
    [400, BadRequestError],
    [401, UnauthorizedError],
    [403, AccessDeniedError],
    [500, ServiceError],
  ])('throws the documented error for %i', async (status, errorClass) => {
    for (const operation of operations.filter((name) => name !== 'setReferrer')) {
      const error = await callWithSample(client(`code=${status}`), operation).catch((reason: unknown) => reason)
      expect(error, operation).toBeInstanceOf(errorClass)
      expect(error).toMatchObject({ status, serviceCode: status, operation })
    }
  })

  test.each(['self_referral', 'missing_user'])(
    'throws ReferralRejectedError for the string error %s',
    async (example) => {
      const prefer = `code=400, example=${example}`
      const error = await callWithSample(client(prefer), 'setReferrer').catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(ReferralRejectedError)
      expect(error).toMatchObject({ status: 400, reason: expect.stringContaining(example) })
    },
  )

  test('gets an error for an undocumented request', async () => {
    const headers = { authorization: 'Bearer a-token', 'content-type': 'application/json' }
    const body = JSON.stringify({ address: '0x12', pid: 'demo', id: 'one', xp: '250' })
    expect((await fetch(`${baseUrl}/wallet/reward`, { method: 'POST', headers, body })).status).toBe(400)
    expect((await fetch(`${baseUrl}/user/progress?account=ada`, { headers })).status).toBe(400)
    expect((await fetch(`${baseUrl}/campaign/info?pid=demo`)).status).toBe(401)
  })
})

import fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import { checked, type Deviation, TOKEN, WALLET } from './deviation.ts'

/** Personal data of users. It must not be in a profile or in the output. */
const SECRETS = ['ada-the-account', 'WELCOME-2026-code', 'value-of-a-user', TOKEN]

/** Bodies of a hostile or broken service. All personal data in them is in `SECRETS`. */
const secret = fc.constantFrom(...SECRETS)
const key = fc.constantFrom(
  'id',
  'profiles',
  'used_by',
  'rewards',
  'actions',
  'status',
  '__proto__',
  'constructor',
  'x\u001b[2J',
  ...SECRETS,
)
const value = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    secret,
    fc.constantFrom(null, true, 0, -1, 1e308, 'demo', 'ethereum'),
    fc.array(tie('tree'), { maxLength: 5 }),
    fc.dictionary(key, tie('tree'), { maxKeys: 14 }),
  ),
})).tree

const answer = fc.record({
  status: fc.constantFrom(200, 200, 200, 201, 204, 302, 400, 401, 403, 404, 408, 418, 429, 500, 503),
  body: fc.oneof(
    value.map((data) => JSON.stringify({ success: true, data })),
    fc.record({ success: fc.boolean(), error: value }).map((body) => JSON.stringify(body)),
    value.map((body) => JSON.stringify(body)),
    fc.constantFrom('', '<html>value-of-a-user', '{"success":true,"data":', `${'['.repeat(5_000)}`),
  ),
  headers: fc.dictionary(
    fc.constantFrom('date', 'retry-after', 'x-request-id'),
    fc.constantFrom('value-of-a-user', '0', '99999999999'),
  ),
  fate: fc.constantFrom('answer', 'answer', 'answer', 'service', 'service', 'reset'),
})

test('with any service, keeps its limits, writes only if allowed, and shows no personal data', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 12 }), fc.boolean(), async (answers, allowWrites) => {
      let count = 0
      const deviation: Deviation = (_, pass) => {
        const { status, body, headers, fate } = answers[count++ % answers.length] as (typeof answers)[number]
        if (fate === 'service') return pass()
        if (fate === 'reset') throw new Error('reset with value-of-a-user')
        return new Response(status === 204 ? null : body, { status, headers })
      }
      const args = {
        account: 'ada-the-account',
        code: 'WELCOME-2026-code',
        ...(allowWrites && { allowWrites, address: WALLET }),
      }
      const { requests, output, exitCode, profile } = await checked({ deviation, args })
      expect(requests.length).toBeLessThanOrEqual(60)
      const writes = requests.filter(({ method }) => method !== 'GET')
      expect(writes.length).toBeLessThanOrEqual(allowWrites ? 2 : 0)
      for (const text of [...SECRETS, WALLET]) expect(output).not.toContain(text)
      for (const { url } of requests) expect(url).not.toContain(TOKEN)
      expect([0, 1, 3, 4, 5]).toContain(exitCode)
      expect(JSON.parse(JSON.stringify(profile))).toEqual(profile)
    }),
    { numRuns: 60 },
  )
})

test('sends at most 60 requests to a service that ignores all parameters', async () => {
  const { requests, answered } = await checked({
    async deviation(request, pass) {
      const response = await pass()
      if (request.method === 'POST') return response
      // The answer is the same for all names, so the run tries all names.
      const url = new URL(request.url)
      url.search = '?pid=demo&account=ada&platform=discord&code=WELCOME-2026'
      return pass(new Request(url, request))
    },
    args: { allowWrites: true, address: WALLET },
  })
  expect(requests.length).toBeLessThanOrEqual(60)
  expect(answered[0]?.finding.result).toBe('as assumed')
})

test('does not show or save responses of several megabytes', async () => {
  const large = 'value-of-a-user'.repeat(100_000)
  const { output, exitCode } = await checked({
    deviation: (request, pass) =>
      /points/.test(request.url)
        ? new Response(
            JSON.stringify({ success: true, data: { id: large, [large]: 1, list: Array(20_000).fill({ a: 1 }) } }),
          )
        : pass(),
  })
  expect(output.length).toBeLessThan(20_000)
  expect(exitCode).toBe(1)
})

test('a request fails after 10 s', async () => {
  const timeouts = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => AbortSignal.abort())
  const { exitCode, answered } = await checked({
    deviation: (request) => {
      request.signal.throwIfAborted()
      return new Response('{"success":true,"data":{}}')
    },
  })
  expect(new Set(timeouts.mock.calls.flat())).toEqual(new Set([10_000]))
  const { finding } = answered.find(({ question }) => question.id === 'shapes.getCampaignInfo') ?? {}
  expect(finding).toEqual({ result: "can't tell", note: 'no response within 10 s' })
  expect(exitCode).toBe(4)
})

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

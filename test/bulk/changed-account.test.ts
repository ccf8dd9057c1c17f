import type { IncomingMessage, ServerResponse } from 'node:http'
import { CampaignClient, type CampaignClientOptions } from 'campaign-client'
import { type AwardRow, awardOne, fileLedger, rewardWallets } from 'campaign-client/bulk'
import { nodeTransport } from 'campaign-client/node'
import { describe, expect, onTestFinished, test } from 'vitest'
import { award, awards, counts, entriesOf, newPath, setup, stopErrorOf } from './fixtures.ts'

/** Returns a token with these claims and an invalid signature. */
const jwt = (claims: object): string =>
  [{ alg: 'none' }, claims, 'signature']
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')

const ALICE = jwt({ iss: 'https://issuer.example', sub: 'alice' })
const ALICE_RENEWED = jwt({ iss: 'https://issuer.example', sub: 'alice', iat: 2 })
const BOB = jwt({ iss: 'https://issuer.example', sub: 'bob' })
const OTHER_ISSUER = jwt({ iss: 'https://other.example', sub: 'alice' })
const NO_SUBJECT = jwt({ iss: 'https://issuer.example' })
const BLANK_SUBJECT = jwt({ iss: 'https://issuer.example', sub: ' ' })
const BLANK_CLAIMS = jwt({ iss: '', sub: '\t' })

/** A service that refuses the first token after some awards, and the tokens of the awards that it has made. */
async function changingService(next: string, first = ALICE, awardsBefore = 3) {
  const { service } = setup()
  const used: string[] = []
  const server = await service.listen({
    intercept(request, response) {
      const { url, headers } = request as IncomingMessage
      if (!url?.endsWith('/wallet/reward')) return false
      const token = headers.authorization?.replace('Bearer ', '') ?? ''
      if (token === first && used.length >= awardsBefore) {
        ;(response as ServerResponse).writeHead(401).end()
        return true
      }
      used.push(token)
      return false
    },
  })
  onTestFinished(() => server.close())
  const tokens = [first, next]
  const clientOver = (transport: CampaignClientOptions['transport']) =>
    new CampaignClient({
      baseUrl: server.url,
      accessToken: () => (tokens.length > 1 ? tokens.shift() : tokens[0]) as string,
      maxRetries: 1,
      ...(transport && { transport }),
    })
  return { service, used, clientOver }
}

describe.each(['fetch', 'nodeTransport'])('over %s', (kind) => {
  const transportOf = () => {
    if (kind === 'fetch') return undefined
    const transport = nodeTransport()
    onTestFinished(() => transport.close())
    return transport
  }

  test.each([
    ['another subject', BOB, /'sub' was "alice" and is now "bob"/],
    ['another issuer', OTHER_ISSUER, /'iss' was "https:\/\/issuer\.example" and is now "https:\/\/other\.example"/],
    ['no subject', NO_SUBJECT, /'sub' was "alice" and is now none/],
    ['a blank subject', BLANK_SUBJECT, /'sub' was "alice" and is now none/],
  ])('a token source that changes to %s stops the run, and nothing is sent', async (_, next, words) => {
    const { service, used, clientOver } = await changingService(next)
    const client = clientOver(transportOf())
    const path = newPath()
    const { cause, report, message } = await stopErrorOf(
      rewardWallets(client, awards(20), { ledger: fileLedger(path), concurrency: 2 }),
    )
    expect(cause).toMatchObject({
      code: 'configuration',
      outcome: 'not_applied',
      message: expect.stringMatching(words),
    })
    expect(message).toMatch(words)
    expect(used).toEqual([ALICE, ALICE, ALICE])
    expect(report.counts).toEqual(counts({ awarded: 3 }))
    expect(service.state.awards).toHaveLength(3)
    expect(await entriesOf(path)).toHaveLength(3)
    // Other calls of the client are not affected.
    await client.rewardWallet(award(50))
    expect(used.at(-1)).toBe(next)
  })

  test.each([
    ['a renewed token of the same account', ALICE_RENEWED],
    ['an opaque token', 'opaque-token'],
    ['a token with blank claims', BLANK_CLAIMS],
  ])('a run goes on with %s', async (_, next) => {
    const { used, clientOver } = await changingService(next)
    const options = { ledger: fileLedger(newPath()), concurrency: 2 }
    const report = await rewardWallets(clientOver(transportOf()), awards(20), options)
    expect(report).toMatchObject({ counts: counts({ awarded: 20 }), complete: true })
    expect(new Set(used)).toEqual(new Set([ALICE, next]))
  })
})

test.each([
  ['no subject', 'a blank subject', NO_SUBJECT, BLANK_SUBJECT],
  ['a blank subject', 'no subject', BLANK_SUBJECT, NO_SUBJECT],
])('for a run and for its ledger, a token with %s has the account of a token with %s', async (_, __, first, next) => {
  const { used, clientOver } = await changingService(next, first)
  const path = newPath()
  const report = await rewardWallets(clientOver(undefined), awards(20), { ledger: fileLedger(path), concurrency: 2 })
  expect(report).toMatchObject({ counts: counts({ awarded: 20 }), complete: true })
  expect(new Set(used)).toEqual(new Set([first, next]))
  // The ledger has recorded the first token, and the source returns only the next one.
  const again = await rewardWallets(clientOver(undefined), awards(20), { ledger: fileLedger(path) })
  expect(again).toMatchObject({ fromLedger: 20, complete: true })
})

test('awardOne does not send an award with a token of another account, and releases its claim', async () => {
  const { used, clientOver, service } = await changingService(BOB, ALICE, 0)
  const path = newPath()
  const ledger = fileLedger(path)
  await expect(awardOne(clientOver(undefined), award(1), { ledger })).rejects.toMatchObject({
    code: 'award_unsettled',
    reason: 'refused_for_now',
    outcome: 'not_applied',
    cause: { code: 'configuration', message: expect.stringContaining('not sent, because the access token changed') },
  })
  expect(used).toEqual([])
  expect(service.state.awards).toEqual([])
  expect(await entriesOf(path)).toEqual([])
})

test('a client of another kind gets the row only', async () => {
  const calls: unknown[][] = []
  const client = { rewardWallet: async (...given: unknown[]) => void calls.push(given) }
  await rewardWallets(client as { rewardWallet(row: AwardRow): Promise<void> }, awards(1), {
    ledger: fileLedger(newPath()),
  })
  expect(calls).toEqual([[award(0)]])
})

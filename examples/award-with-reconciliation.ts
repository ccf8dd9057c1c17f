/**
 * Single awards with a clear result, also after network errors:
 *
 *   npx tsx examples/award-with-reconciliation.ts
 *
 * The id of each award is derived from its campaign, reason and address. The
 * service accepts an id once, so you can send an award again at any time.
 */
import { BadRequestError, CampaignClient, CampaignError } from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'

interface Award {
  readonly address: string
  readonly reason: string
  readonly xp: number
}

/**
 * - `awarded`: by this call.
 * - `already_awarded`: by an earlier call, or by an attempt whose answer was
 *   lost.
 * - `rejected`: not awarded. A retry would fail in the same way.
 * - `open`: unknown, or temporarily refused. Retry later with the same id.
 */
type Result = 'awarded' | 'already_awarded' | 'rejected' | 'open'

const PID = 'demo'

const idOf = ({ address, reason }: Award): string =>
  [PID, reason, address.toLowerCase()].join(':')

async function award(client: CampaignClient, request: Award): Promise<Result> {
  const { address, xp } = request
  try {
    await client.rewardWallet({ address, pid: PID, id: idOf(request), xp })
    return 'awarded'
  } catch (error) {
    if (!(error instanceof CampaignError)) throw error
    // Assumed: the service answers 400 for a used id, without a reason. If your
    // records have the id, or an attempt of this call may have been applied, the
    // award exists.
    if (error instanceof BadRequestError) {
      return error.outcome === 'unknown' || sent.has(idOf(request))
        ? 'already_awarded'
        : 'rejected'
    }
    const isTemporary =
      error.outcome === 'unknown' ||
      error.code === 'rate_limited' ||
      error.code === 'network'
    return isTemporary ? 'open' : 'rejected'
  }
}

/**
 * Your own records: the ids of all awards that were not rejected. In production,
 * use a table.
 */
const sent = new Set<string>()

const service = createCampaignService({ seed: 'awards' })
const { url, close } = await service.listen()
const client = new CampaignClient({
  baseUrl: url,
  accessToken: 'any',
  maxRetries: 1,
})

const wallet = (digit: string): string => `0x${digit.repeat(40)}`
const awards: (Award & {
  happens: string
  fault?: Parameters<typeof service.fail>[0]
})[] = [
  {
    address: wallet('1'),
    reason: 'launch',
    xp: 100,
    happens: 'no error',
  },
  {
    address: wallet('1'),
    reason: 'launch',
    xp: 100,
    happens: 'the same award again',
  },
  {
    address: wallet('2'),
    reason: 'launch',
    xp: 100,
    happens: 'the answer is lost',
    fault: { on: 'rewardWallet', kind: 'applied_then_reset' },
  },
  {
    address: wallet('3'),
    reason: 'launch',
    xp: 100,
    happens: 'the connection is lost, twice',
    fault: { on: 'rewardWallet', kind: 'reset', times: 2 },
  },
  {
    address: wallet('4'),
    reason: 'launch',
    xp: 100,
    happens: 'the answer is lost, twice',
    fault: { on: 'rewardWallet', kind: 'applied_then_reset', times: 2 },
  },
  {
    address: '0x12',
    reason: 'launch',
    xp: 100,
    happens: 'a malformed address',
  },
]

const open: Award[] = []
for (const { happens, fault, ...request } of awards) {
  if (fault) service.fail(fault)
  const result = await award(client, request)
  if (result !== 'rejected') sent.add(idOf(request))
  if (result === 'open') open.push(request)
  console.log(`${happens}: ${result}`)
}
for (const request of open)
  console.log(`later, with the same id: ${await award(client, request)}`)

const awarded = service.state.awards.map(
  ({ address, xp }) => `${address.slice(0, 5)}… ${xp} XP`,
)
console.log(`the service has ${awarded.length} awards: ${awarded.join(', ')}`)
await close()

/**
 * Single awards with a clear result, even after network errors:
 *
 *   npm pkg set type=module
 *   npm install tsx@4
 *   npx tsx award-with-reconciliation.ts
 *
 * The id of each award is derived from its campaign, reason and address. The
 * service accepts an id once, so you can send an award again at any time.
 */
import { BadRequestError, CampaignClient, CampaignError } from 'campaign-client'
import { rewardId } from 'campaign-client/bulk'
import { createCampaignService } from 'campaign-client/testing'

interface Award {
  readonly address: string
  readonly reason: string
  readonly xp: number
}

/**
 * - `awarded`: by this call.
 * - `already_awarded`: by an earlier call, as your records say.
 * - `probably_awarded`: the service refused the id, and an earlier attempt with
 *   it had an unknown outcome. Look at the user's progress to be sure.
 * - `rejected`: not awarded. A retry would fail in the same way.
 * - `open`: unknown, or temporarily refused. Retry later with the same id.
 */
type Result =
  | 'awarded'
  | 'already_awarded'
  | 'probably_awarded'
  | 'rejected'
  | 'open'

const PID = 'demo'

const idOf = ({ address, reason }: Award): string =>
  rewardId({ pid: PID, address, reason })

async function award(client: CampaignClient, request: Award): Promise<Result> {
  const { address, xp } = request
  try {
    const id = idOf(request)
    if (records.get(id) === 'awarded') return 'already_awarded'
    await client.rewardWallet({ address, pid: PID, id, xp })
    return 'awarded'
  } catch (error) {
    if (!(error instanceof CampaignError)) throw error
    // A 400 has no reason. It only means that the id was used if an earlier
    // attempt may have been applied: in this call, or in a call still open.
    if (error instanceof BadRequestError) {
      const isInDoubt =
        error.outcome === 'unknown' || records.get(idOf(request)) === 'open'
      return isInDoubt ? 'probably_awarded' : 'rejected'
    }
    const isTemporary =
      error.outcome === 'unknown' ||
      error.code === 'rate_limited' ||
      error.code === 'network'
    return isTemporary ? 'open' : 'rejected'
  }
}

/** Your own records: the results by id. In production, use a table. */
const records = new Map<string, Result>()

const service = createCampaignService({ idSeed: 'awards' })
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
    happens: 'the response is lost',
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
    happens: 'the response is lost, twice',
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
  if (result === 'awarded' || result === 'open')
    records.set(idOf(request), result)
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

/**
 * Awards with a clear outcome, whatever the network does:
 *
 *   npx tsx examples/award-with-reconciliation.ts
 *
 * The id of each award is derived from what it is for. So a second run of this
 * program, or of the same award in another process, can never give it twice,
 * and an award whose outcome is unknown can simply be tried again.
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
 * - `already_awarded`: the id was taken, by an earlier run or by an attempt
 *   whose answer got lost.
 * - `rejected`: not given; a retry would fail the same way.
 * - `open`: not known, or not now. Try again later with the same id.
 */
type Ending = 'awarded' | 'already_awarded' | 'rejected' | 'open'

const PID = 'demo'

const idOf = ({ address, reason }: Award): string =>
  [PID, reason, address.toLowerCase()].join(':')

async function award(client: CampaignClient, request: Award): Promise<Ending> {
  const { address, xp } = request
  try {
    await client.rewardWallet({ address, pid: PID, id: idOf(request), xp })
    return 'awarded'
  } catch (error) {
    if (!(error instanceof CampaignError)) throw error
    // How the service refuses a used id is not shown; 400 is assumed, and it
    // says nothing about why. If an attempt of this call may have been applied,
    // or one that your records hold, it can only be that one.
    if (error instanceof BadRequestError) {
      return error.outcome === 'unknown' || sent.has(idOf(request))
        ? 'already_awarded'
        : 'rejected'
    }
    const mayPass =
      error.outcome === 'unknown' ||
      error.code === 'rate_limited' ||
      error.code === 'network'
    return mayPass ? 'open' : 'rejected'
  }
}

/**
 * Your own records: the ids that were awarded or may have been. A real program
 * has a table.
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
    happens: 'nothing special',
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
    happens: 'the answer gets lost',
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
    happens: 'the answer gets lost, and the one to the retry as well',
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
  const ending = await award(client, request)
  if (ending !== 'rejected') sent.add(idOf(request))
  if (ending === 'open') open.push(request)
  console.log(`${happens}: ${ending}`)
}
for (const request of open)
  console.log(`later, with the same id: ${await award(client, request)}`)

const counted = service.state.awards.map(
  ({ address, xp }) => `${address.slice(0, 5)}… ${xp} XP`,
)
console.log(`the service holds ${counted.length} awards: ${counted.join(', ')}`)
await close()

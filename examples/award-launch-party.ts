/**
 * Awards XP to all guests of a party, once each:
 *
 *   npm pkg set type=module
 *   npm install tsx@4
 *   npx tsx award-launch-party.ts
 *
 * You can run the list again at any time, for example after a crash: each award
 * has an id, and the ledger records its outcome. Ctrl-C ends a run cleanly.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CampaignClient } from 'campaign-client'
import {
  AwardRunStoppedError,
  fileLedger,
  readLedger,
  rewardId,
  rewardWallets,
} from 'campaign-client/bulk'
import { nodeTransport } from 'campaign-client/node'
import { createCampaignService } from 'campaign-client/testing'

const PID = 'demo'
const REASON = 'launch party 2026'

/** Returns the guests. In production, read them from a file or a database. */
function* guests(): Generator<{ wallet: string; xp: number }> {
  for (let guest = 1; guest <= 200; guest++) {
    yield {
      wallet: `0x${guest.toString(16).padStart(40, '0')}`,
      xp: guest === 1 ? 500 : 250,
    }
  }
  // One guest is listed twice, and one address is invalid.
  yield { wallet: `0x${'7'.padStart(40, '0')}`, xp: 250 }
  yield { wallet: '0x1234', xp: 250 }
}

function* awards() {
  for (const { wallet, xp } of guests()) {
    const isWallet = /^0x[0-9a-f]{40}$/i.test(wallet)
    const id = isWallet
      ? rewardId({ pid: PID, address: wallet, reason: REASON })
      : wallet
    yield { address: wallet, pid: PID, id, xp }
  }
}

const service = createCampaignService()
const { url, close } = await service.listen()
const transport = nodeTransport()
const client = new CampaignClient({
  baseUrl: url,
  accessToken: 'any',
  transport,
  maxRetries: 0,
  // Limits the campaigns and the XP of an award, to catch mistakes.
  guard: { campaigns: [PID], maxXpPerAward: 500 },
})

const folder = mkdtempSync(join(tmpdir(), 'launch-party-'))
const ledger = fileLedger(join(folder, 'awards.ledger'), { run: REASON })
const shutdown = new AbortController()
process.once('SIGINT', () => shutdown.abort(new Error('interrupted')))

async function run(title: string): Promise<void> {
  console.log(title)
  try {
    const { counts, xp, fromLedger, problems, complete } = await rewardWallets(
      client,
      awards(),
      {
        ledger,
        concurrency: 16,
        signal: shutdown.signal,
        // Looks for an award whose response was lost.
      },
    )
    console.log(
      `  awarded ${counts.awarded} (${xp.awarded} XP), ` +
        `${fromLedger} of them in earlier runs`,
    )
    console.log(
      `  already awarded ${counts.alreadyAwarded}, ` +
        `duplicates ${counts.duplicate}, rejected ${counts.rejected}`,
    )
    for (const { index, verdict, reason } of problems.slice(0, 3))
      console.log(`  row ${index}: ${verdict}, ${reason}`)
    console.log(complete ? '  complete' : '  not complete: run it again')
  } catch (error) {
    if (!(error instanceof AwardRunStoppedError)) throw error
    console.log(`  stopped by ${error.cause}; run it again to continue`)
  }
}

service.fail({ on: 'rewardWallet', kind: 'delay', delayMs: 0, times: 60 })
service.fail({ on: 'rewardWallet', kind: 'status', status: 401 })
await run('First run, the token expires:')
service.fail({ on: 'rewardWallet', kind: 'applied_then_reset', times: 3 })
await run('Second run, with a new token, three responses are lost:')
await run('Third run, to settle those three:')
await run('Fourth run, by mistake:')

let count = 0
let total = 0
for await (const { xp } of readLedger(join(folder, 'awards.ledger'))) {
  count++
  total += xp
}
const awarded = service.state.awards.reduce((sum, { xp }) => sum + xp, 0)
console.log(
  `the ledger has ${count} awards with ${total} XP, ` +
    `the service ${service.state.awards.length} with ${awarded}`,
)

transport.close()
await close()
rmSync(folder, { recursive: true })

/**
 * Child process: awards generated rows with a client that resolves immediately. Arguments: the path of the ledger, the
 * number of the first row, and the number after the last. Sends the maximum resident memory and the time of the first award to the parent.
 */
import { fileLedger, rewardWallets } from 'campaign-client/bulk'

const [, , path = '', from = '', to = ''] = process.argv
const begin = performance.now()
let firstMs: number | undefined
let peak = 0
const watch = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss())
}, 20)

const client = {
  rewardWallet: async (): Promise<void> => {
    firstMs ??= performance.now() - begin
  },
}
await rewardWallets(client, awards(Number(from), Number(to)), { ledger: fileLedger(path), concurrency: 64 })
clearInterval(watch)
process.send?.({ peak, firstMs })
process.disconnect?.()

function* awards(from: number, to: number) {
  for (let number = from; number < to; number++) {
    const hex = number.toString(16).padStart(40, '0')
    yield { address: `0x${hex}`, pid: 'demo', id: `v1-${hex}`, xp: 250 }
  }
}

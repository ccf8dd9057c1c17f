import { existsSync } from 'node:fs'
import type { CheckedList, Holders } from './list.ts'
import { NumberList } from './number-list.ts'

/** What a ledger says of a list. */
export interface LedgerFacts {
  /** Awards of the list that it has a final verdict for. They are not sent again. */
  readonly done: { readonly awards: number; readonly xp: number; readonly awarded: number; readonly rejected: number }
  /** Awards whose end nobody knows. They are sent again, under the same id. */
  readonly inDoubt: number
  /** What is left to be sent. */
  readonly toSend: { readonly awards: number; readonly xp: number; readonly wallets: number }
  /** Wallets to be awarded now that were awarded in the same campaign before, under an id that the list does not have. */
  readonly awardedBefore: { readonly wallets: number; readonly examples: readonly AwardedBefore[] }
}

interface AwardedBefore {
  readonly address: string
  readonly pid: string
  readonly xp: number
  readonly at: string
}

const EXAMPLES = 3
const FINAL = 1

/** Holds a list against its ledger, and adds the rows that contradict it to the list's problems. */
export async function readLedgerFacts(
  path: string,
  list: CheckedList,
  { wallets, walletOf }: Holders,
  retryRejected: boolean,
): Promise<LedgerFacts> {
  const { awards, problems, firstLines } = list
  const states = new NumberList()
  for (let award = 0; award < awards.size; award++) states.push(0)
  /** Of a wallet: its award under another id, by its place among those kept, from 1. */
  const before = new NumberList()
  for (let wallet = 0; wallet < wallets.size; wallet++) before.push(0)
  const others: AwardedBefore[] = []
  const done = { awards: 0, xp: 0, awarded: 0, rejected: 0 }
  let inDoubt = 0

  if (existsSync(path)) {
    const { readLedger } = await import('campaign-client/bulk')
    for await (const { id, address, pid, xp, verdict, at } of readLedger(path)) {
      const award = awards.seek({ id, address, pid, xp })
      if (award === -1) {
        const wallet = verdict === 'rejected' ? -1 : wallets.find({ address, pid })
        if (wallet === -1) continue
        if (others.length < MOST_OTHERS) others.push({ address, pid, xp, at })
        before.set(wallet, others.length)
      } else if (!awards.isBound(award)) {
        const message = `the ledger has the id of this row for ${address}, ${pid}, ${xp} XP`
        problems.add({ line: firstLines.at(award), message })
      } else if (verdict === 'indeterminate') {
        inDoubt++
      } else if (verdict !== 'rejected' || !retryRejected) {
        states.set(award, FINAL)
        done.awards++
        done.xp += xp
        done[verdict === 'rejected' ? 'rejected' : 'awarded']++
      }
    }
  }

  const toWallets = new NumberList()
  for (let wallet = 0; wallet < wallets.size; wallet++) toWallets.push(0)
  let walletsToSend = 0
  let walletsBefore = 0
  const examples: AwardedBefore[] = []
  for (let award = 0; award < awards.size; award++) {
    const wallet = walletOf.at(award)
    if (states.at(award) === FINAL || toWallets.at(wallet) !== 0) continue
    toWallets.set(wallet, 1)
    walletsToSend++
    const other = before.at(wallet)
    if (other === 0) continue
    walletsBefore++
    const example = others[other - 1]
    if (example !== undefined && examples.length < EXAMPLES) examples.push(example)
  }
  const xp = Number((list.xp - done.xp).toPrecision(15))
  return {
    done,
    inDoubt,
    toSend: { awards: awards.size - done.awards, xp, wallets: walletsToSend },
    awardedBefore: { wallets: walletsBefore, examples },
  }
}

/** Of which the details are kept. */
const MOST_OTHERS = 10_000

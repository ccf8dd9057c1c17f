import { createHash } from 'node:crypto'
import * as z from 'zod/mini'
import { rewardWalletRequest } from '../endpoints/reward-wallet.ts'
import { identifier } from '../schemas/fields.ts'
import { validate } from '../schemas/validate.ts'
import { invalidRequest } from './invalid-request.ts'

/** What an award is for. */
export interface RewardIdParts {
  /** Campaign ID. */
  pid: string
  /** Ethereum wallet address: `0x` and 40 hex digits, in either letter case. */
  address: string
  /** Why this wallet gets this award in this campaign, in your own words: `'launch party'`, `'quiz 7, second prize'`. */
  reason: string
}

const { address, pid } = rewardWalletRequest.shape
const rewardIdParts = z.object({
  pid,
  address,
  reason: z.pipe(
    z.pipe(
      z.string(),
      z.transform((reason: string) => reason.normalize('NFC').trim()),
    ),
    identifier,
  ),
})

/** The version of the derivation, in front of every id: another one could never give the same ids. */
const VERSION = 'v1'
const LENGTH = 40

/**
 * Derives the `id` of an award from what it is for: the same parts always give the same id. So a list that is made again,
 * tomorrow or by a colleague, awards nobody twice.
 *
 * Letter case of the address, the Unicode form of the reason (é as one character or as two) and white space around it
 * make no difference; everything else does. Parts can't run into each other.
 *
 * The id is `v1-` and the first 40 hex digits of the SHA-256 of these texts, each as UTF-8 with its length in bytes and a
 * colon in front and a comma behind: `v1`, the `pid`, the address in lower case, the reason in NFC without the white space
 * around it. The guide, “Bulk awards”, has vectors. Interface: [Limits](/the-service#limits).
 *
 * ```ts
 * const id = rewardId({ pid: 'demo', address: '0x52908400098527886E0F7030069857D2E4169EE7', reason: 'launch party' })
 * console.log(id) // → v1-…
 * ```
 *
 * @throws InvalidRequestError when a part is missing or empty, or the address is malformed
 */
export function rewardId(parts: RewardIdParts): string {
  const checked = validate(rewardIdParts, parts)
  if (!checked.ok) throw invalidRequest('rewardId', checked.issues)
  const { pid, address, reason } = checked.value
  const hash = createHash('sha256')
  for (const part of [VERSION, pid, address.toLowerCase(), reason]) hash.update(`${Buffer.byteLength(part)}:${part},`)
  return `${VERSION}-${hash.digest('hex').slice(0, LENGTH)}`
}

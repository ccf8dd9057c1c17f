import { createHash } from 'node:crypto'
import * as z from 'zod/mini'
import { rewardWalletRequest } from '../endpoints/reward-wallet.ts'
import { invalidRequestError } from '../errors/option-checks.ts'
import { identifier } from '../schemas/fields.ts'
import { validate } from '../schemas/validate.ts'
import { comparableAddress } from '../shared/wallet-address.ts'

/** The parts from which {@link rewardId} derives an id. */
export interface RewardIdParts {
  /** Campaign ID. */
  pid: string
  /** Ethereum wallet address: `0x` and 40 hex digits, in either letter case. */
  address: string
  /** Your own reason for this award to this wallet in this campaign: `'launch party'`, `'quiz 7, second prize'`. */
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

/** The version of the derivation. Each id starts with it, so that ids of different versions never collide. */
const VERSION = 'v1'
const HASH_LENGTH = 40

/**
 * Derives the `id` of an award. The same parts always give the same id, so a list that is generated again awards nobody
 * twice.
 *
 * These differences do not change the id: the letter case of the address, white space around the reason, and the Unicode
 * form of the reason (é as one character or as two). Any other difference changes it.
 *
 * The id is `v1-` and the first 40 hex digits of a SHA-256. The hashed texts are `v1`, the `pid`, the address in lower
 * case, and the trimmed reason in NFC. Each text is encoded as a netstring: its length in UTF-8 bytes, a colon, the text, a
 * comma. docs/bulk-awards.md has test vectors. See "POST /wallet/reward" in docs/the-service.md.
 *
 * @throws InvalidRequestError when a part is missing or empty, or the address is malformed
 *
 * @example
 * ```ts
 * const id = rewardId({ pid: 'demo', address: '0x52908400098527886E0F7030069857D2E4169EE7', reason: 'launch party' })
 * console.log(id) // → v1-7a03af3ae8af538af8aad61bd35874ee2989d024
 * ```
 */
export function rewardId(parts: RewardIdParts): string {
  const checked = validate(rewardIdParts, parts)
  if (!checked.ok) throw invalidRequestError('rewardId', checked.issues)
  const { pid, address, reason } = checked.value
  const hash = createHash('sha256')
  for (const part of [VERSION, pid, comparableAddress(address), reason])
    hash.update(`${Buffer.byteLength(part)}:${part},`)
  return `${VERSION}-${hash.digest('hex').slice(0, HASH_LENGTH)}`
}

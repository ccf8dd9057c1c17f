import * as z from 'zod/mini'
import { finiteNumber, identifier } from '../schemas/fields.ts'
import { WALLET_ADDRESS } from '../shared/wallet-address.ts'
import { endpoint } from './endpoint.ts'

/** The arguments of `rewardWallet`. See "POST /wallet/reward" in docs/the-service.md. */
export interface RewardWalletRequest {
  /** Ethereum wallet address: `0x` and 40 hex digits. */
  address: string
  /** Campaign ID. */
  pid: string
  /** Your unique identifier of this award. The service accepts it once, so a retry cannot count twice. */
  id: string
  /** Amount of XP: any finite number. The API description does not say whether 0, negative numbers and fractions are allowed. */
  xp: number
}

/** Schema of {@link RewardWalletRequest}. */
export const rewardWalletRequest = z.object({
  address: z.string().check(z.regex(WALLET_ADDRESS, 'must be 0x and 40 hex digits')),
  pid: identifier,
  id: identifier,
  xp: finiteNumber,
})

export default endpoint<RewardWalletRequest, void>({
  method: 'POST',
  path: 'wallet/reward',
  request: rewardWalletRequest,
  response: undefined,
  retry: 'guarded',
})

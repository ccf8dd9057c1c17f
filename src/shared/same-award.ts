import { comparableAddress } from './wallet-address.ts'

/** The fields of an award, without its id. */
interface AwardFields {
  readonly address: string
  readonly pid: string
  readonly xp: number
}

/** Returns a key that is the same for awards with the same address, campaign and XP. */
export const awardKey = ({ address, pid, xp }: AwardFields): string =>
  JSON.stringify([comparableAddress(address), pid, xp])

/** Returns a key that is the same for awards of the same wallet in the same campaign. */
export const walletKey = ({ address, pid }: Pick<AwardFields, 'address' | 'pid'>): string =>
  JSON.stringify([comparableAddress(address), pid])

/** Whether two awards with the same id are the same award. The letter case of an address makes no difference. */
export const isSameAward = (one: AwardFields, other: AwardFields): boolean => awardKey(one) === awardKey(other)

import { comparableAddress } from './wallet-address.ts'

/** The fields of an award, without its id. */
interface AwardFields {
  readonly address: string
  readonly pid: string
  readonly xp: number
}

/** Returns a text that is equal for awards that differ only in their ids. */
export const awardKey = ({ address, pid, xp }: AwardFields): string =>
  JSON.stringify([comparableAddress(address), pid, xp])

/** Whether two awards with the same id are the same award. The letter case of an address makes no difference. */
export const isSameAward = (one: AwardFields, other: AwardFields): boolean =>
  one.xp === other.xp && one.pid === other.pid && comparableAddress(one.address) === comparableAddress(other.address)

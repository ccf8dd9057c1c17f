/** The fields of an award, without its id. */
interface AwardFields {
  readonly address: string
  readonly pid: string
  readonly xp: number
}

/** Whether two awards with the same id are the same award. The letter case of an address makes no difference. */
export const isSameAward = (one: AwardFields, other: AwardFields): boolean =>
  one.xp === other.xp && one.pid === other.pid && one.address.toLowerCase() === other.address.toLowerCase()

/** Median and quartiles. */
export interface Spread {
  readonly q1: number
  readonly median: number
  readonly q3: number
}

/** One implementation of the measured work. */
export interface Contestant {
  readonly name: string
  /** Does the work `times` times. */
  readonly run: (times: number) => void | Promise<void>
}

/** One line of a table. */
export interface Result {
  readonly name: string
  /** One value per round. */
  readonly samples: readonly number[]
}

/** A comparison: one size, one concurrency. */
export interface Group {
  readonly title: string
  /** Microseconds of the first contestant in each round: the unit of the ratios. */
  readonly unitUs: readonly number[]
  readonly results: readonly Result[]
  /** The limit of a contestant's median: a maximum, or a minimum for a rate. */
  readonly limits?: Readonly<Record<string, number>>
  /** Replaces the measure of the subject. */
  readonly measure?: Measure
}

/** How a value is written: a ratio, bytes per call, an amount in the unit of the title, or a number per second. */
export type Measure = 'ratio' | 'bytes' | 'amount' | 'rate'

/** The results of one subject. The default export of its file measures it. */
export interface Subject {
  readonly title: string
  /** Describes the measurement. */
  readonly about: string
  readonly measure: Measure
  readonly groups: readonly Group[]
}

/** The name of the package in tables. */
export const OURS = 'campaign-client'
/** The client with `nodeTransport()`. */
export const OURS_ON_NODE = `${OURS}/node`

export function spread(samples: readonly number[]): Spread {
  const sorted = [...samples].sort((a, b) => a - b)
  const at = (part: number): number => {
    const place = (sorted.length - 1) * part
    const low = sorted[Math.floor(place)] ?? Number.NaN
    const high = sorted[Math.ceil(place)] ?? Number.NaN
    return low + (high - low) * (place - Math.floor(place))
  }
  return { q1: at(0.25), median: at(0.5), q3: at(0.75) }
}

/** CPU time of this process so far, all threads, in microseconds. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

export interface Plan {
  readonly title: string
  readonly limits?: Readonly<Record<string, number>>
  /**
   * How often a contestant does its work in one sample. Many enough that the garbage collector runs several times within the
   * sample.
   */
  readonly times: number
  /** Rounds per process. */
  readonly rounds: number
  /** Uncounted rounds at the start, while the code is compiled. */
  readonly warmUp: number
}

/**
 * Lets the first contestant and one rival take turns and divides their CPU times, so that a slow machine slows both. Only
 * two share a process, since libraries in one process slow each other.
 */
export async function compare(contestants: readonly Contestant[], rival: number, plan: Plan): Promise<Group> {
  const samples = contestants.map((): number[] => [])
  await takeTurns(rival, plan, async (place, counts) => {
    const before = cpuTime()
    await contestants[place]?.run(plan.times)
    if (counts) samples[place]?.push((cpuTime() - before) / plan.times)
  })
  const unit = samples[0] ?? []
  return {
    title: plan.title,
    unitUs: unit,
    ...(plan.limits && { limits: plan.limits }),
    results: contestants.map(({ name }, index) => ({ name, samples: ratios(samples[index] ?? [], unit) })),
  }
}

/** Takes samples of the first contestant and of a rival in turn. */
export async function takeTurns(
  rival: number,
  { warmUp, rounds }: Pick<Plan, 'warmUp' | 'rounds'>,
  take: (place: number, counts: boolean) => Promise<void>,
): Promise<void> {
  for (let round = -warmUp; round < rounds; round++) {
    // The order alternates: first, rival, rival, first.
    for (const place of round % 2 === 0 ? [0, rival] : [rival, 0]) await take(place, round >= 0)
  }
}

const NEIGHBOURS = 2

/**
 * Divides each sample by the median of the unit's samples in the rounds around it.
 */
export function ratios(samples: readonly number[], unit: readonly number[]): number[] {
  return samples.map((took, round) => {
    const around = unit.slice(Math.max(0, round - NEIGHBOURS), round + NEIGHBOURS + 1)
    return took / spread(around).median
  })
}

/** Merges the results of several processes. */
export function pool([first, ...others]: readonly [Subject, ...Subject[]]): Subject {
  const groups = first.groups.map((group, place) => {
    const found = [group, ...others.flatMap(({ groups }) => groups[place] ?? [])]
    return {
      ...group,
      unitUs: found.flatMap(({ unitUs }) => unitUs),
      results: group.results.map(({ name }, row) => ({
        name,
        samples: found.flatMap(({ results }) => results[row]?.samples ?? []),
      })),
    }
  })
  return { ...first, groups }
}

/** Median and quartiles. */
export interface Spread {
  readonly q1: number
  readonly median: number
  readonly q3: number
}

/** What is measured, and what it is measured against. */
export interface Contestant {
  readonly name: string
  /** Does the work `times` times. */
  readonly run: (times: number) => void | Promise<void>
}

/** One line of a table, one bar of a picture. */
export interface Result {
  readonly name: string
  /** What its rounds gave, in the measure of the subject. */
  readonly samples: readonly number[]
}

/** What is compared with one another: one size, one way of calling. */
export interface Group {
  readonly title: string
  /** What the first contestant, the unit of the ratios, took in each round. No other machine will repeat it. */
  readonly unitUs: readonly number[]
  readonly results: readonly Result[]
  /** What the median of a contestant should not exceed, or for a rate reach, by its name. */
  readonly aims?: Readonly<Record<string, number>>
  /** Where it is another than that of the subject. */
  readonly measure?: Measure
}

/** How a value is written: a ratio, bytes kept per call, an amount of what the title of the group says, or so many a second. */
export type Measure = 'ratio' | 'bytes' | 'amount' | 'rate'

/** Everything measured on one subject. Each subject has a file whose default export measures it. */
export interface Subject {
  readonly title: string
  /** What is measured, against what and how, in sentences. */
  readonly about: string
  readonly measure: Measure
  readonly groups: readonly Group[]
}

/** The name of the package's own line; others of its own begin with it. */
export const OURS = 'campaign-client'
/** Its client with the transport of that entry. */
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

/** CPU time of this process so far, all threads, in microseconds. Other processes on the machine do not count. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

export interface Plan {
  readonly title: string
  readonly aims?: Readonly<Record<string, number>>
  /**
   * How often a contestant does its work in one sample. Enough for the garbage collector to run several times in it:
   * in short samples each would clear away what the one before has left.
   */
  readonly times: number
  /** In each process. */
  readonly rounds: number
  /** Rounds before the counted ones, in which the code gets compiled. */
  readonly warmUp: number
}

/**
 * Lets the first contestant and one rival take turns, and gives for each its CPU time as a ratio to the first one's at
 * about the same time: what slows the machine for a while slows both. The others stay without samples. They would only
 * disturb: what one library leaves in the heap and in the compiled code of the platform slows the next one.
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
    ...(plan.aims && { aims: plan.aims }),
    results: contestants.map(({ name }, index) => ({ name, samples: ratios(samples[index] ?? [], unit) })),
  }
}

/** Has samples taken of the first contestant and of a rival, in turn. Those of the warm-up do not count. */
export async function takeTurns(
  rival: number,
  { warmUp, rounds }: Pick<Plan, 'warmUp' | 'rounds'>,
  take: (place: number, counts: boolean) => Promise<void>,
): Promise<void> {
  for (let round = -warmUp; round < rounds; round++) {
    // First, rival, rival, first: each follows the other as often as itself.
    for (const place of round % 2 === 0 ? [0, rival] : [rival, 0]) await take(place, round >= 0)
  }
}

const NEIGHBOURS = 2

/**
 * Samples divided by what the unit took in the rounds around each. One sample of the unit alone would add its own
 * chance to everything, and hide its own spread.
 */
export function ratios(samples: readonly number[], unit: readonly number[]): number[] {
  return samples.map((took, round) => {
    const around = unit.slice(Math.max(0, round - NEIGHBOURS), round + NEIGHBOURS + 1)
    return took / spread(around).median
  })
}

/** What several processes found of the same subject, as one. */
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

/** Median and quartiles. */
export interface Spread {
  readonly q1: number
  readonly median: number
  readonly q3: number
}

/** A package or a baseline that runs the measured task. */
export interface Contestant {
  readonly name: string
  /** Runs the task `times` times. */
  readonly run: (times: number) => void | Promise<void>
}

/** A row of a table. */
export interface Result {
  readonly name: string
  /** One value per round. */
  readonly samples: readonly number[]
}

/** A comparison at one size and concurrency. */
export interface Group {
  readonly title: string
  /** The time of the first contestant in each round, in microseconds. It is the unit of the ratios. */
  readonly unitUs: readonly number[]
  readonly results: readonly Result[]
  /** Limits of the medians, by contestant: a maximum, or a minimum for a rate. */
  readonly limits?: Readonly<Record<string, number>>
  /** Overrides the measure of the subject. */
  readonly measure?: Measure
}

/** The kind of a value: a ratio, bytes per call, an amount in the unit of the title, or a number per second. */
export type Measure = 'ratio' | 'bytes' | 'amount' | 'rate'

/** The results of one subject. The default export of its file measures them. */
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
    const position = (sorted.length - 1) * part
    const low = sorted[Math.floor(position)] ?? Number.NaN
    const high = sorted[Math.ceil(position)] ?? Number.NaN
    return low + (high - low) * (position - Math.floor(position))
  }
  return { q1: at(0.25), median: at(0.5), q3: at(0.75) }
}

/** Returns the CPU time of all threads of this process, in microseconds. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

export interface Plan {
  readonly title: string
  readonly limits?: Readonly<Record<string, number>>
  /** How often a contestant runs its task in one sample: enough for several garbage collections. */
  readonly times: number
  /** Rounds per process. */
  readonly rounds: number
  /** Rounds at the start that are not measured: V8 still compiles the code. */
  readonly warmUp: number
}

/**
 * Runs the first contestant and one rival in turn and divides their CPU times, so that a slow machine slows both. A process
 * runs only two contestants, because libraries in one process slow each other.
 */
export async function compare(contestants: readonly Contestant[], rivalIndex: number, plan: Plan): Promise<Group> {
  const samples = contestants.map((): number[] => [])
  await takeTurns(rivalIndex, plan, async (index, counts) => {
    const before = cpuTime()
    await contestants[index]?.run(plan.times)
    if (counts) samples[index]?.push((cpuTime() - before) / plan.times)
  })
  const unit = samples[0] ?? []
  return {
    title: plan.title,
    unitUs: unit,
    ...(plan.limits && { limits: plan.limits }),
    results: contestants.map(({ name }, index) => ({ name, samples: ratios(samples[index] ?? [], unit) })),
  }
}

/** Calls `take` for the first contestant and a rival in turn. `counts` is false in the warm-up. */
export async function takeTurns(
  rivalIndex: number,
  { warmUp, rounds }: Pick<Plan, 'warmUp' | 'rounds'>,
  take: (index: number, counts: boolean) => Promise<void>,
): Promise<void> {
  for (let round = -warmUp; round < rounds; round++) {
    // The order alternates: first, rival, rival, first.
    for (const index of round % 2 === 0 ? [0, rivalIndex] : [rivalIndex, 0]) await take(index, round >= 0)
  }
}

const NEIGHBOURS = 2

/** Divides each sample by the median of the unit's samples in the neighbouring rounds. */
export function ratios(samples: readonly number[], unit: readonly number[]): number[] {
  return samples.map((sample, round) => {
    const neighbours = unit.slice(Math.max(0, round - NEIGHBOURS), round + NEIGHBOURS + 1)
    return sample / spread(neighbours).median
  })
}

/** Merges the results of several processes. */
export function pool([first, ...others]: readonly [Subject, ...Subject[]]): Subject {
  const groups = first.groups.map((group, index) => {
    const found = [group, ...others.flatMap(({ groups }) => groups[index] ?? [])]
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

import type { Subject } from './harness.ts'
import { putLoad } from './load.ts'

/** How many calls a second a process gets through. */
export default async function (rival: number): Promise<Subject> {
  const loads = await putLoad(rival)
  return {
    title: 'Throughput',
    about:
      'Calls of 1 KB a second, by the clock, of one process that does nothing else, against a server in a second process ' +
      'on the same two cores: so many calls at once, each beginning when another has ended. These are no ratios, travel ' +
      'badly, and show whatever else the machine had to do.',
    measure: 'rate',
    groups: loads.map(({ atOnce, results }) => ({
      title: `${atOnce} at once`,
      unitUs: [],
      results: results.map(({ name, samples }) => ({ name, samples: samples.map(({ perSecond }) => perSecond) })),
    })),
  }
}

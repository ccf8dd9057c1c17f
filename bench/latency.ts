import { type Group, OURS_ON_NODE, ratios, type Subject } from './harness.ts'
import { type Load, putLoad } from './load.ts'

/** How long the calls take, the slow ones too. */
export default async function (rival: number): Promise<Subject> {
  const loads = await putLoad(rival)
  return {
    title: 'Latency',
    about:
      'The same load: how long its calls take, from the arguments to the data, beside those of a bare `fetch`. p50 is what ' +
      'half of them stay under, p99 what 99 of 100 do: that one shows what else the machine had to do as well.',
    measure: 'ratio',
    groups: loads.flatMap((load) => [percentile(load, 50), percentile(load, 99)]),
  }
}

function percentile({ atOnce, results }: Load, percent: number): Group {
  const found = results.map(({ name, samples }) => ({
    name,
    samples: samples.map(({ tookUs }) => tookUs[Math.ceil((tookUs.length * percent) / 100) - 1] ?? Number.NaN),
  }))
  const unitUs = found[0]?.samples ?? []
  return {
    title: `${atOnce} at once, p${percent}`,
    unitUs,
    ...(atOnce === 64 && percent === 99 && { aims: { [OURS_ON_NODE]: 1 } }),
    results: found.map(({ name, samples }) => ({ name, samples: ratios(samples, unitUs) })),
  }
}

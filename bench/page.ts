import { availableParallelism, cpus, totalmem } from 'node:os'
import { formatSpread, formatTime, formatValue } from './format.ts'
import { type Group, type Subject, spread } from './harness.ts'

/** Returns the text of docs/benchmarks.md. */
export function page(subjects: readonly Subject[], peers: Readonly<Record<string, string>>): string {
  const versions = Object.entries(peers).map(([name, version]) => `${name} ${version}`)
  return [
    '---\ntitle: Benchmarks\n---',
    '# Benchmarks',
    '`npm run bench` measures the built package and other packages, and writes this page. Values are **ratios** unless the text ' +
      'or a title names a unit: only ratios are comparable between machines. Each value is the median of all rounds, with the ' +
      'quartiles in brackets. The lines below a table compare medians with their targets.',
    `Measured on ${machine()}, Node ${process.versions.node}, with ${versions.join(', ')}.`,
    ...subjects.map(section),
    SIMULATION,
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n')
}

/** From `npm run simulate -- --seeds 5000`, before a release. */
const SIMULATION =
  '## The simulated world\n\n`npm run simulate` runs partners, the service and receivers in one process and virtual time. Before 0.4.0, ' +
  '5 000 seeds simulated 6 868 hours, 206 968 requests, 176 512 attempts at messages and 76 826 crashes, without a violation.'

function section(subject: Subject): string {
  const limits = subject.groups.flatMap((group) => limitLines(subject, group)).join('\n')
  return [`## ${subject.title}`, subject.about, table(subject), limits].filter((part) => part !== '').join('\n\n')
}

/** Formats the results for a terminal. */
export function plainTable({ title, measure: usual, groups }: Subject): string {
  return groups
    .map((group) => {
      const { measure = usual } = group
      const lines = group.results.map(({ name, samples }) => `  ${name.padEnd(38)}${formatSpread(measure, samples)}`)
      return [`${title}: ${group.title}${unitOf(group)}`, ...lines].join('\n')
    })
    .join('\n\n')
}

/** Formats the results as a table with one column per group. */
function table(subject: Subject): string {
  const { groups } = subject
  const names = [...new Set(groups.flatMap(({ results }) => results.map(({ name }) => name)))]
  const cell = (group: Group, name: string): string => {
    const found = group.results.find((result) => result.name === name)
    return found === undefined ? '–' : formatSpread(group.measure ?? subject.measure, found.samples)
  }
  const rows = [
    ['case', ...groups.map((group) => `${group.title}${unitOf(group)}`)],
    ['---', ...groups.map(() => '---')],
    ...names.map((name) => [name, ...groups.map((group) => cell(group, name))]),
  ]
  return rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

const unitOf = ({ unitUs }: Group): string => (unitUs.length === 0 ? '' : ` (1 = ${formatTime(spread(unitUs).median)})`)

function limitLines(subject: Subject, { title, results, limits = {}, measure = subject.measure }: Group): string[] {
  return results.flatMap(({ name, samples }) => {
    const limit = limits[name]
    if (limit === undefined) return []
    const { median } = spread(samples)
    const [found, wanted] = [formatValue(measure, median), formatValue(measure, limit)]
    const isRate = measure === 'rate'
    const isMet = isRate ? median >= limit : median <= limit || found === wanted
    return [`- ${name}, ${title}: ${found}, at ${isRate ? 'least' : 'most'} ${wanted}: ${isMet ? 'met' : '**missed**'}`]
  })
}

function machine(): string {
  const model = cpus()[0]?.model.trim() ?? 'an unknown processor'
  const memory = Math.round(totalmem() / 2 ** 30)
  return `${model}, ${availableParallelism()} cores, ${memory} GB, ${process.platform} ${process.arch}`
}

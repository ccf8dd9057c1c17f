import { availableParallelism, cpus, totalmem } from 'node:os'
import { type Group, type Subject, spread } from './harness.ts'
import { written, writtenSpread, writtenTime } from './notation.ts'

/** The text of docs/benchmarks.md. */
export function page(subjects: readonly Subject[], peers: Readonly<Record<string, string>>): string {
  const versions = Object.entries(peers).map(([name, version]) => `${name} ${version}`)
  return [
    '---\ntitle: Benchmarks\n---',
    '# Benchmarks',
    '`npm run bench` measures the built package beside its peers and writes this page. Values are **ratios** unless a title names ' +
      'a unit: only ratios are comparable between machines. Each is the median of all rounds, with the quartiles in brackets. ' +
      'Contestants take turns, so a busy machine slows both.',
    `Measured on ${machine()}, Node ${process.versions.node}, with ${versions.join(', ')}.`,
    ...subjects.map(section),
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n')
}

function section(subject: Subject): string {
  const found = subject.groups.flatMap((group) => verdicts(subject, group)).join('\n')
  return [`## ${subject.title}`, subject.about, table(subject), found].filter((part) => part !== '').join('\n\n')
}

/** A table for a terminal: one line per contestant. */
export function plainTable({ title, measure: usual, groups }: Subject): string {
  return groups
    .map((group) => {
      const { measure = usual } = group
      const lines = group.results.map(({ name, samples }) => `  ${name.padEnd(26)}${writtenSpread(measure, samples)}`)
      return [`${title}: ${group.title}${unitOf(group)}`, ...lines].join('\n')
    })
    .join('\n\n')
}

/** One column per group. */
function table(subject: Subject): string {
  const { groups } = subject
  const names = [...new Set(groups.flatMap(({ results }) => results.map(({ name }) => name)))]
  const cell = (group: Group, name: string): string => {
    const found = group.results.find((result) => result.name === name)
    return found === undefined ? '–' : writtenSpread(group.measure ?? subject.measure, found.samples)
  }
  const rows = [
    ['', ...groups.map((group) => `${group.title}${unitOf(group)}`)],
    ['---', ...groups.map(() => '---')],
    ...names.map((name) => [name, ...groups.map((group) => cell(group, name))]),
  ]
  return rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

const unitOf = ({ unitUs }: Group): string =>
  unitUs.length === 0 ? '' : ` (1 = ${writtenTime(spread(unitUs).median)})`

function verdicts(subject: Subject, { title, results, limits = {}, measure = subject.measure }: Group): string[] {
  return results.flatMap(({ name, samples }) => {
    const limit = limits[name]
    if (limit === undefined) return []
    const { median } = spread(samples)
    const [found, wanted] = [written(measure, median), written(measure, limit)]
    const isRate = measure === 'rate'
    const isKept = isRate ? median >= limit : median <= limit || found === wanted
    return [
      `- ${name}, ${title}: ${found}, at ${isRate ? 'least' : 'most'} ${wanted}: ${isKept ? 'kept' : '**missed**'}`,
    ]
  })
}

function machine(): string {
  const model = cpus()[0]?.model.trim() ?? 'an unknown processor'
  const memory = Math.round(totalmem() / 2 ** 30)
  return `${model}, ${availableParallelism()} cores, ${memory} GB, ${process.platform} ${process.arch}`
}

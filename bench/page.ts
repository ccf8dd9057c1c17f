import { availableParallelism, cpus, totalmem } from 'node:os'
import { type Group, type Subject, spread } from './harness.ts'
import { written, writtenSpread, writtenTime } from './notation.ts'

/** A subject under the name of its file. */
export interface Measured {
  readonly name: string
  readonly subject: Subject
}

/** The page of all subjects, as it stands in docs/benchmarks.md. A section that is text stays as it was. */
export function page(sections: readonly (Measured | string)[], peers: Readonly<Record<string, string>>): string {
  const versions = Object.entries(peers).map(([name, version]) => `${name} ${version}`)
  return [
    '---\ntitle: Benchmarks\n---',
    '# Benchmarks',
    'Written by `npm run bench`, which measures everything on this page beside its peers in some fifteen minutes.',
    'What travels to another machine is a **ratio**, so that is what stands here. Each sample is divided by the median of ' +
      'the first of its table in the rounds around; a table gives the median of the rounds and, in brackets, the quartiles. ' +
      'Everything runs on plain Node, from the built package. Calls, decoding and verification are measured in pairs: the ' +
      'first of a table takes turns with each of the others, every pair in two or three processes of its own. Libraries that share ' +
      'a process slow each other, and each process has its own luck with what is compiled as it runs. ' +
      'A subject can be measured by itself, so that tables may be of different days, and of machines that differ in speed.',
    `Measured on ${machine()}, Node ${process.versions.node}, with ${versions.join(', ')}.`,
    ...sections.map((each) => (typeof each === 'string' ? each : section(each))),
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n')
}

function section({ name, subject }: Measured): string {
  const found = subject.groups.flatMap((group) => verdicts(subject, group)).join('\n')
  return [`## ${subject.title}`, subject.about, pictureOf(name, subject.title), table(subject), found].join('\n\n')
}

const pictureOf = (name: string, title: string): string => `![${title}](pictures/bench-${name}.svg)`

/** The section of a subject on a page. @throws Error where there is none */
export function sectionOf(name: string, published: string): string {
  const found = published
    .split(/\n\n(?=## )/)
    .find((part) => part.includes(pictureOf(name, part.slice('## '.length, part.indexOf('\n')))))
  if (found === undefined) throw new Error(`${name} has not been measured yet: npm run bench -- ${name}`)
  return found.trimEnd()
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

/** Groups side by side when they compare the same, which is what they usually do. */
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

function verdicts(subject: Subject, { title, results, aims = {}, measure = subject.measure }: Group): string[] {
  return results.flatMap(({ name, samples }) => {
    const aim = aims[name]
    if (aim === undefined) return []
    const { median } = spread(samples)
    const found = written(measure, median)
    const limit = written(measure, aim)
    // As precise as what is shown: "1.60, aim 1.60: missed" would only puzzle.
    const isMet = found === limit || (measure === 'rate' ? median >= aim : median <= aim)
    const verdict = isMet ? 'met' : '**missed**'
    return [`- ${name}, ${title}: ${found}, aim ${limit} or ${measure === 'rate' ? 'more' : 'less'}: ${verdict}`]
  })
}

function machine(): string {
  const model = cpus()[0]?.model.trim() ?? 'an unknown processor'
  const memory = Math.round(totalmem() / 2 ** 30)
  return `${model}, ${availableParallelism()} cores, ${memory} GB, ${process.platform} ${process.arch}`
}

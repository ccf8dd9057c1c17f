import { type Group, type Measure, OURS, type Spread, type Subject, spread } from './harness.ts'
import { written } from './notation.ts'

const LEFT = 200
const PLOT = 430
const RIGHT = 90
const ROW = 24
const BAR = 12
const WIDTH = LEFT + PLOT + RIGHT

/** Draws a subject: one panel per group, a bar from zero to each median, a thin line between the quartiles. */
export function draw(subject: Subject): string {
  const marks: string[] = []
  let y = 44
  for (const group of subject.groups) {
    marks.push(text(22, y + 14, 'group', group.title))
    y += 26
    marks.push(...panel(group.measure ?? subject.measure, group, y))
    y += group.results.length * ROW + 20
  }
  const height = y + 22
  const unit = subject.measure === 'ratio' ? subject.groups[0]?.results[0]?.name : undefined
  const legend = [
    ...(unit === undefined ? [] : [`dotted line: 1, ${unit}`]),
    'thin line: quartiles',
    ...(subject.groups.length > 1 ? ['each panel has its own scale'] : []),
    ...(subject.groups.some(({ aims }) => aims) ? ['red tick: our aim'] : []),
  ]
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title">`,
    `<title id="title">${escaped(`${subject.title}: ${scaleName(subject)}`)}</title>`,
    `<style>${STYLE}</style>`,
    `<rect class="paper" x="1" y="1" width="${WIDTH - 2}" height="${height - 2}" rx="14"/>`,
    text(22, 30, 'title', `${subject.title}, ${scaleName(subject)}`),
    ...marks,
    text(22, height - 14, 'legend', legend.join(' · ')),
    '</svg>',
    '',
  ].join('\n')
}

const SCALES: Readonly<Record<Measure, string>> = {
  ratio: 'as a ratio; less is better',
  bytes: 'bytes kept per call; less is better',
  amount: 'as amounts; less is better',
  rate: 'how many a second; more is better',
}

function scaleName({ measure, groups }: Subject): string {
  const exception = groups.some((group) => group.measure === 'rate') ? ', but for messages a second' : ''
  return SCALES[measure] + exception
}

function panel(measure: Measure, { results, aims }: Group, top: number): string[] {
  const bars = results.map(({ name, samples }) => ({ name, value: spread(samples) }))
  const values = bars.flatMap(({ name, value }) => [value.q1, value.q3, aims?.[name] ?? 0])
  const low = Math.min(0, ...values)
  const high = Math.max(measure === 'ratio' ? 1 : 0, ...values)
  const x = (value: number): number => round(LEFT + ((value - low) / (high - low || 1)) * PLOT)
  const bottom = top + bars.length * ROW
  const line = (name: string, value: number, from: number, to: number): string =>
    `<line class="${name}" x1="${x(value)}" x2="${x(value)}" y1="${from}" y2="${to}"/>`

  const rows = bars.flatMap((drawn, index) => {
    const middle = top + index * ROW + ROW / 2
    const aim = aims?.[drawn.name]
    return [
      ...bar(measure, drawn, middle, x, aim),
      ...(aim === undefined ? [] : [line('aim', aim, middle - BAR / 2 - 3, middle + BAR / 2 + 3)]),
    ]
  })
  const unit = measure === 'ratio' ? [line('unit', 1, top, bottom)] : []
  return [line('zero', 0, top, bottom), ...unit, ...rows]
}

function bar(
  measure: Measure,
  { name, value }: { readonly name: string; readonly value: Spread },
  middle: number,
  x: (value: number) => number,
  aim = 0,
): string[] {
  const from = Math.min(x(0), x(value.median))
  const length = round(Math.abs(x(value.median) - x(0)))
  const kind = name.startsWith(OURS) ? 'bar ours' : 'bar'
  return [
    text(LEFT - 10, middle + 4, name.startsWith(OURS) ? 'name own' : 'name', name),
    `<rect class="${kind}" x="${from}" y="${middle - BAR / 2}" width="${length}" height="${BAR}" rx="2"/>`,
    `<line class="spread" x1="${x(value.q1)}" x2="${x(value.q3)}" y1="${middle}" y2="${middle}"/>`,
    text(
      Math.max(...[value.q3, value.median, aim, 0].map(x)) + 10,
      middle + 4,
      'value',
      written(measure, value.median),
    ),
  ]
}

const round = (value: number): number => Math.round(value * 10) / 10

const text = (x: number, y: number, kind: string, words: string): string =>
  `<text class="${kind}" x="${x}" y="${y}">${escaped(words)}</text>`

const escaped = (words: string): string =>
  words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

// The picture brings its own paper: as a file it can't know the theme of the page around it.
const STYLE = `
text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: #1f2933 }
.title { font-weight: 600; font-size: 15px } .group { font-weight: 600 } .legend { font-size: 12px; fill: #52606d }
.name { text-anchor: end; font-size: 12px } .own { font-weight: 600; fill: #24507a } .value { font-variant-numeric: tabular-nums; paint-order: stroke; stroke: #fbfcfd; stroke-width: 4px }
.paper { fill: #fbfcfd; stroke: #cbd2d9 } .bar { fill: #b3bcc6 } .ours { fill: #5b9bd5 }
.spread { stroke: #1f2933; stroke-width: 2 } .zero { stroke: #9aa5b1 } .unit { stroke: #52606d; stroke-dasharray: 2 3 }
.aim { stroke: #b42318; stroke-width: 2.4 }
`.trim()

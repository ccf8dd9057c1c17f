/**
 * Draws a sequence picture from its text, so that a change of the picture reads as a change of words.
 *
 * Lines: first `title: words` and `lanes: A | B`, then `at 5 s`, `A -> B : ask`, `A --> B : answer`, `A -x B : lost`,
 * `A runs from here`, `A ends here`, `A dies here`, `note A : words`. `#` starts a comment.
 */

/** How much room a picture takes across. */
interface Form {
  /** The margin on the left. */
  readonly left: number
  readonly lane: number
  readonly head: number
  /** From one row to the next, when its words take one line. */
  readonly row: number
  readonly line: number
  /** What a letter takes, to break lines and to size notes. */
  readonly letter: number
  /** Where a lost message stops before its lane. */
  readonly lost: number
  /** Whether the time stands on its line instead of in a margin, and what is said takes as many lines as its arrow needs. */
  readonly narrow: boolean
}

const WIDE: Form = { left: 74, lane: 208, head: 132, row: 36, line: 14, letter: 6.6, lost: 60, narrow: false }

/** Four lanes on a phone that is held upright. */
const NARROW: Form = { left: 4, lane: 88, head: 86, row: 28, line: 13, letter: 6, lost: 24, narrow: true }

const TOP = 62
const BAR = 10

type Step =
  | { kind: 'time'; text: string }
  | { kind: 'message'; from: string; to: string; arrow: '->' | '-->' | '-x'; text: string }
  | { kind: 'note'; lane: string; text: string }
  | { kind: 'bar'; lane: string; what: 'runs from' | 'ends' | 'dies' }

interface Script {
  readonly title: string
  readonly lanes: readonly string[]
  readonly steps: readonly Step[]
}

/** @throws Error when a line is none of the forms, or names a lane that is not there. */
export const drawSequence = (text: string): string => draw(parse(text), WIDE)

/** The same for a narrow screen. */
export const drawNarrowSequence = (text: string): string => draw(parse(text), NARROW)

function draw({ title, lanes, steps }: Script, form: Form): string {
  const { left, lane, row, line } = form
  const x = (name: string): number => left + lane / 2 + lanes.indexOf(name) * lane
  const width = left + lanes.length * lane + (form.narrow ? left : 0)
  const edge = form.narrow ? left : 12
  const marks: string[] = []
  const bars: string[] = []
  const begun = new Map<string, number>()
  let y = TOP + 10

  for (const step of steps) {
    if (step.kind === 'time') {
      y += form.narrow ? row : 14
      const [from, to] = form.narrow ? [left, width - left] : [left - 8, width - 16]
      marks.push(`<line class="time" x1="${from}" x2="${to}" y1="${y}" y2="${y}"/>`)
      marks.push(form.narrow ? label(left, y - 5, step.text, 'clock') : label(left - 14, y + 4, step.text, 'clock'))
      y += 4
    } else if (step.kind === 'message') {
      const said = form.narrow ? broken(step.text, Math.abs(x(step.to) - x(step.from)) - 2, form.letter) : [step.text]
      y += row + (said.length - 1) * line
      marks.push(...arrow(step, said, x, y, form))
    } else if (step.kind === 'note') {
      y += row - (form.narrow ? 0 : 6)
      const half = (step.text.length * form.letter) / 2 + 10
      const at = Math.min(Math.max(x(step.lane), half + left), width - half - edge)
      marks.push(`<rect class="note" x="${at - half}" y="${y - 14}" width="${2 * half}" height="20" rx="4"/>`)
      marks.push(label(at, y, step.text, 'words'))
    } else if (step.what === 'runs from') {
      begun.set(step.lane, y)
    } else {
      y += step.what === 'dies' ? 28 : 6
      bars.push(bar(x(step.lane), begun.get(step.lane) ?? TOP, y))
      begun.delete(step.lane)
      if (step.what === 'dies') {
        marks.push(cross(x(step.lane), y), label(x(step.lane) + 16, y + 4, 'the process dies', 'aside'))
      }
    }
  }
  const bottom = y + 26
  const heads = lanes.flatMap((name) => [
    `<line class="lane" x1="${x(name)}" x2="${x(name)}" y1="${TOP - 8}" y2="${bottom}"/>`,
    `<rect class="head" x="${x(name) - form.head / 2}" y="20" width="${form.head}" height="34" rx="8"/>`,
    label(x(name), 42, name, 'name'),
  ])
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${bottom + 14}" width="${width}" height="${bottom + 14}" role="img" aria-labelledby="title">`,
    `<title id="title">${escaped(title)}</title>`,
    `<style>${form.narrow ? `${STYLE}\n${NARROW_STYLE}` : STYLE}</style>`,
    `<rect class="paper" x="1" y="1" width="${width - 2}" height="${bottom + 12}" rx="14"/>`,
    ...heads,
    ...bars,
    ...marks,
    '</svg>',
    '',
  ].join('\n')
}

// The picture brings its own paper: as a file it can't know the theme of the page around it.
const STYLE = `
text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: #1f2933; text-anchor: middle }
.name { font-weight: 600; fill: #fff } .clock { text-anchor: end; fill: #52606d; font-size: 12px }
.aside { text-anchor: start; fill: #b42318 } .words { font-size: 12px } .said { paint-order: stroke; stroke: #fbfcfd; stroke-width: 5px }
.paper { fill: #fbfcfd; stroke: #cbd2d9 } .head { fill: #24507a } .lane { stroke: #9aa5b1; stroke-dasharray: 2 4 }
.time { stroke: #e4e7eb } .note { fill: #fff3c4; stroke: #e0c35a } .bar { fill: #9fc3e6; stroke: #24507a }
.ask, .answer { stroke: #1f2933; stroke-width: 1.4; fill: none } .answer { stroke-dasharray: 6 4 } .tip { fill: #1f2933 }
.cross { stroke: #b42318; stroke-width: 2.4 }
`.trim()

const NARROW_STYLE = `
text { font-size: 11.5px } .words, .clock { font-size: 11px } .name { font-size: 10px } .clock { text-anchor: start }
`.trim()

function arrow(
  { from, to, arrow }: Step & { kind: 'message' },
  said: readonly string[],
  x: (lane: string) => number,
  y: number,
  { line, lost }: Form,
): string[] {
  const way = Math.sign(x(to) - x(from))
  const start = x(from) + way * (BAR / 2)
  const whole = x(to) - way * (BAR / 2)
  const end = arrow === '-x' ? whole - way * lost : whole
  const tip = `M${end} ${y} l${-way * 9} -4.5 v9 z`
  return [
    `<line class="${arrow === '->' ? 'ask' : 'answer'}" x1="${start}" x2="${end}" y1="${y}" y2="${y}"/>`,
    arrow === '-x' ? cross(end, y) : `<path class="tip" d="${tip}"/>`,
    ...said.map((words, index) => label((start + whole) / 2, y - 7 - (said.length - 1 - index) * line, words, 'said')),
  ]
}

/** The lines of a text, none wider than this unless it is one word. Filled from the end: no last word stands alone. */
function broken(text: string, width: number, letter: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ').reverse()) {
    const longer = `${word} ${lines[0]}`
    if (lines.length > 0 && longer.length * letter <= width) lines[0] = longer
    else lines.unshift(word)
  }
  return lines
}

const bar = (x: number, from: number, to: number): string =>
  `<rect class="bar" x="${x - BAR / 2}" y="${from}" width="${BAR}" height="${to - from}" rx="2"/>`

const cross = (x: number, y: number): string =>
  `<path class="cross" d="M${x - 6} ${y - 6} l12 12 M${x + 6} ${y - 6} l-12 12"/>`

const label = (x: number, y: number, text: string, kind: string): string =>
  `<text class="${kind}" x="${x}" y="${y}">${escaped(text)}</text>`

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

function parse(text: string): Script {
  const [first = '', second = '', ...rest] = text
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
  const title = /^title: (.+)$/.exec(first)?.[1]
  if (title === undefined) throw new Error(`not a title: ${first}`)
  const lanes =
    /^lanes: (.+)$/
      .exec(second)?.[1]
      ?.split('|')
      .map((lane) => lane.trim()) ?? []
  const lane = (name: string | undefined, line: string): string => {
    if (name === undefined || !lanes.includes(name)) throw new Error(`no such lane: ${line}`)
    return name
  }
  const steps = rest.map((line): Step => {
    const time = /^at (.+)$/.exec(line)
    if (time) return { kind: 'time', text: time[1] as string }
    const note = /^note (.+?) : (.+)$/.exec(line)
    if (note) return { kind: 'note', lane: lane(note[1], line), text: note[2] as string }
    const message = /^(.+?) (->|-->|-x) (.+?) : (.+)$/.exec(line)
    if (message) {
      const [, from, arrow, to, said] = message as unknown as [string, string, '->' | '-->' | '-x', string, string]
      return { kind: 'message', from: lane(from, line), to: lane(to, line), arrow, text: said }
    }
    const change = /^(.+) (runs from|ends|dies) here$/.exec(line)
    if (change) return { kind: 'bar', lane: lane(change[1], line), what: change[2] as 'runs from' | 'ends' | 'dies' }
    throw new Error(`not understood: ${line}`)
  })
  return { title, lanes, steps }
}

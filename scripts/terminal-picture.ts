const STYLES = ['bold', 'dim', 'red', 'green', 'yellow', 'cyan'] as const
const LINE = 20
const LEFT = 24
const TOP = 52
/** Of a character of the font, beside its size. */
const ADVANCE = 0.602
const FONT = 13

/**
 * Draws a session at a terminal from a text: the title, then one line for each of the terminal. `{green:3} awarded` is
 * coloured; a line that begins with `$ ` was typed.
 */
export function drawTerminal(text: string): string {
  const [first = '', ...lines] = text.trimEnd().split('\n')
  const title = /^title: (.+)$/.exec(first)?.[1]
  if (title === undefined) throw new Error(`not a title: ${first}`)
  const longest = Math.max(...lines.map((line) => plainText(line).length))
  const width = Math.round(2 * LEFT + longest * FONT * ADVANCE)
  const height = TOP + (lines.length - 1) * LINE + 28
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">`,
    `<title id="title">${escaped(title)}</title>`,
    `<style>${STYLE}</style>`,
    `<rect class="screen" x="1" y="1" width="${width - 2}" height="${height - 2}" rx="10"/>`,
    ...['#ff5f57', '#febc2e', '#28c840'].map(
      (fill, at) => `<circle cx="${LEFT + at * 20}" cy="22" r="6" fill="${fill}"/>`,
    ),
    ...lines.map((line, at) => `<text x="${LEFT}" y="${TOP + at * LINE}" xml:space="preserve">${spans(line)}</text>`),
    '</svg>',
    '',
  ].join('\n')
}

/** A line without its colours. */
export const plainText = (line: string): string => line.replace(MARK, '$2')

const MARK = new RegExp(`\\{(${STYLES.join('|')}):([^}]*)\\}`, 'g')

const spans = (line: string): string =>
  escaped(line)
    .replace(/^\$ (.*)$/, '<tspan class="dim">$ </tspan><tspan class="bold">$1</tspan>')
    .replace(MARK, '<tspan class="$1">$2</tspan>')

const STYLE = `
text { font: ${FONT}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d8dee9 }
.screen { fill: #1b2230; stroke: #3b4557 } .bold { font-weight: 700; fill: #fff } .dim { fill: #8b98ab }
.red { fill: #ff7b72 } .green { fill: #7ee787 } .yellow { fill: #f2cc60 } .cyan { fill: #79dafa }
`.trim()

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

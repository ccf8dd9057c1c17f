/** JSON with each part that fits into the width on one line. */
export function jsonLines(value: unknown, width: number, indentation = '', before = 0): string {
  const line = spaced(value)
  if (typeof value !== 'object' || value === null || indentation.length + before + line.length <= width) return line
  const inner = `${indentation}  `
  const isList = Array.isArray(value)
  // JSON has no field that is undefined.
  const parts = isList
    ? value.map((item) => jsonLines(item, width, inner))
    : Object.entries(value)
        .filter(([, field]) => field !== undefined)
        .map(([name, field]) => `${JSON.stringify(name)}: ${jsonLines(field, width, inner, name.length + 5)}`)
  const [open, close] = isList ? '[]' : '{}'
  return `${open}\n${parts.map((part) => `${inner}${part}`).join(',\n')}\n${indentation}${close}`
}

/** On one line, with spaces after commas and colons. */
const spaced = (value: unknown): string =>
  JSON.stringify(value, null, 1)
    ?.replaceAll(/\n */g, ' ')
    .replaceAll(/([[{]) | ([\]}])/g, '$1$2') ?? 'null'

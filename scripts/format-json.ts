/** Formats JSON. An object or array that fits into `width` characters takes one line. */
export function formatJson(value: unknown, width: number, indentation = '', before = 0): string {
  const line = spaced(value)
  if (typeof value !== 'object' || value === null || indentation.length + before + line.length <= width) return line
  const inner = `${indentation}  `
  const isList = Array.isArray(value)
  const parts = isList
    ? value.map((item) => formatJson(item, width, inner))
    : Object.entries(value)
        .filter(([, field]) => field !== undefined)
        .map(([name, field]) => `${JSON.stringify(name)}: ${formatJson(field, width, inner, name.length + 5)}`)
  const [open, close] = isList ? '[]' : '{}'
  return `${open}\n${parts.map((part) => `${inner}${part}`).join(',\n')}\n${indentation}${close}`
}

const spaced = (value: unknown): string =>
  JSON.stringify(value, null, 1)
    ?.replaceAll(/\n */g, ' ')
    .replaceAll(/([[{]) | ([\]}])/g, '$1$2') ?? 'null'

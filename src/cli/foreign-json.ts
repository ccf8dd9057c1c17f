import { toVisible } from '../shared/text.ts'

/** Deeper values are printed in one line: their indentation could be much longer than the value. */
const MAX_INDENTED_DEPTH = 100
/** Deeper values are cut: `JSON.stringify` would overflow the stack. */
const MAX_DEPTH = 1_000

/**
 * Formats any value as JSON, with control and format characters escaped. Never throws. A value that JSON cannot represent, is
 * nested too deeply or contains itself becomes a text in square brackets.
 */
export const foreignJsonLine = (value: unknown): string => format(value, MAX_DEPTH, 0) ?? '"[cannot be printed]"'

/** Formats any value as indented JSON, as {@link foreignJsonLine} does. */
export const foreignJsonText = (value: unknown): string =>
  format(value, MAX_INDENTED_DEPTH, 2) ?? foreignJsonLine(value)

/** Returns `undefined` if the value cannot be printed, or if its indented text is too long or too deep. */
function format(value: unknown, maxDepth: number, indent: number): string | undefined {
  const copier = new Copier(maxDepth)
  try {
    const copy = copier.copy(value)
    if (indent > 0 && copier.isCut) return undefined
    return JSON.stringify(copy, undefined, indent).split('\n').map(toVisible).join('\n')
  } catch {
    // A getter threw, or the text is longer than a string can be.
    return undefined
  }
}

/** Copies a value without what `JSON.stringify` refuses. */
class Copier {
  readonly #maxDepth: number
  /** The objects that contain the current value. */
  readonly #parents = new Set<object>()
  /** Whether a value was nested too deeply. */
  isCut = false

  constructor(maxDepth: number) {
    this.#maxDepth = maxDepth
  }

  copy(value: unknown): unknown {
    if (typeof value === 'bigint') return String(value)
    if (typeof value === 'function' || typeof value === 'symbol' || value === undefined) return `[${typeof value}]`
    if (typeof value !== 'object' || value === null) return value
    if (this.#parents.has(value)) return '[contains itself]'
    if (this.#parents.size >= this.#maxDepth) {
      this.isCut = true
      return `[more than ${this.#maxDepth} levels]`
    }
    this.#parents.add(value)
    const copy = Array.isArray(value)
      ? value.map((item) => this.copy(item))
      : Object.fromEntries(Object.entries(value).flatMap(([name, field]) => this.#entry(name, field)))
    this.#parents.delete(value)
    return copy
  }

  /** Like `JSON.stringify`, omits fields that are `undefined`. */
  #entry(name: string, value: unknown): [string, unknown][] {
    return value === undefined ? [] : [[name, this.copy(value)]]
  }
}

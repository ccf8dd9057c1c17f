import { createInterface } from 'node:readline'
import { createColors } from 'picocolors'
import { toVisible } from '../shared/text.ts'
import { EXIT } from './exit-codes.ts'
import { CommandFailure, usageFailure } from './failure.ts'
import type { SignalledProcess } from './interrupts.ts'

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

interface Styled {
  readonly text: string
  readonly style: Style
}

/** A part of a line. Its control characters are escaped. */
export type Part = string | number | Styled

const styled =
  (style: Style) =>
  (text: string | number): Styled => ({ text: String(text), style })

export const bold = styled('bold')
export const dim = styled('dim')
export const red = styled('red')
export const green = styled('green')
export const yellow = styled('yellow')
export const cyan = styled('cyan')

/** Formats a line without colours, for a file. */
export const plainLine = (parts: readonly Part[]): string =>
  parts.map((part) => toVisible(typeof part === 'object' ? part.text : String(part))).join('')

/** The version of the `--json` format of all commands. Increase it when a field changes its name or its meaning. */
export const JSON_VERSION = 2

/** Standard output or standard error, written line by line. */
class Channel {
  readonly #stream: NodeJS.WriteStream
  readonly colours: ReturnType<typeof createColors>
  /** Whether the stream can overwrite a line. */
  readonly isTerminal: boolean
  readonly showsProgressBar: boolean
  readonly #closing = new AbortController()
  /** Aborted when the stream can no longer be written. */
  readonly closed = this.#closing.signal
  #failure: NodeJS.ErrnoException | undefined

  constructor(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv) {
    this.#stream = stream
    this.isTerminal = stream.isTTY === true && env.TERM !== 'dumb'
    const isPlain = Boolean(env.NO_COLOR)
    this.showsProgressBar = this.isTerminal && !isPlain
    this.colours = createColors(
      !isPlain && (env.FORCE_COLOR ? !/^(?:0|false)$/.test(env.FORCE_COLOR) : this.isTerminal),
    )
    // A reader may close the stream early, for example `head`.
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') this.#failure ??= error
      this.#closing.abort()
    })
  }

  /** The width of the terminal in characters. */
  get columns(): number {
    // A terminal that does not know its size reports 0.
    return this.#stream.columns || 80
  }

  line(...parts: Part[]): void {
    this.write(`${parts.map((part) => this.#render(part)).join('')}\n`)
  }

  /** Writes text without escaping it. Escape untrusted text first, for example with `foreignJsonText`. */
  write(text: string): void {
    if (!this.closed.aborted) this.#stream.write(text)
  }

  #render(part: Part): string {
    if (typeof part !== 'object') return toVisible(String(part))
    return this.colours[part.style](toVisible(part.text))
  }

  /** Flushes the stream. Returns the write error, if any. A stream closed by its reader is not an error. */
  async flush(): Promise<NodeJS.ErrnoException | undefined> {
    if (!this.closed.aborted) await new Promise((resolve) => this.#stream.write('', resolve))
    // The error event comes after the callback of the write.
    await new Promise((resolve) => setImmediate(resolve))
    return this.#failure
  }
}

/** The environment, the output streams and the signals of the command: those of `process`, or of a test. */
export interface Host extends SignalledProcess {
  readonly env: NodeJS.ProcessEnv
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
}

/** The output of a command: results go to `out`, everything else to `err`. */
export class Output {
  readonly out: Channel
  readonly err: Channel
  /** Whether results are printed as JSON. */
  json: boolean

  constructor({ stdout, stderr, env }: Host, json: boolean) {
    this.out = new Channel(stdout, env)
    this.err = new Channel(stderr, env)
    this.json = json
  }

  /** Prints something that is not a result of the command. If that fails, prints a warning, and the command continues. */
  printSafely(print: () => void): void {
    try {
      print()
    } catch (error) {
      this.err.line(yellow('warning'), ' an event could not be printed: ', String(error))
    }
  }

  /** Prints a result as one line of JSON, or as text with `printText`. */
  result(fields: Readonly<Record<string, unknown>>, printText?: (out: Channel) => void): void {
    if (this.json) this.out.write(`${foreignJsonLine({ version: JSON_VERSION, ...fields })}\n`)
    else printText?.(this.out)
  }
}

/**
 * Asks for confirmation at the terminal.
 *
 * @throws CommandFailure when the answer does not match `accepted`, or there is no terminal
 */
export async function confirm(
  question: string,
  accepted: RegExp,
  adviceWithoutTerminal: string,
  adviceIfDeclined?: string,
): Promise<void> {
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) {
    throw usageFailure('there is no terminal to ask for confirmation: nothing was sent', adviceWithoutTerminal)
  }
  process.stderr.write(question)
  // With `terminal: true`, readline would handle Ctrl-C, which must end the process.
  const lines = createInterface({ input: process.stdin, terminal: false })
  // If there is no value, the input has ended.
  const { value: answer = '' } = await lines[Symbol.asyncIterator]().next()
  lines.close()
  if (accepted.test(answer.trim())) return
  throw new CommandFailure(EXIT.usage, 'declined', 'declined: nothing was sent', { advice: adviceIfDeclined })
}

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

import { createColors } from 'picocolors'
import { toJsonLine, toVisible } from '../shared/text/visible-text.ts'

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

/** The version of the `--json` format. Increase it when a field is renamed or removed. */
const JSON_VERSION = 1

interface OutputStream {
  write(text: string, done?: () => void): unknown
  on(event: 'error', listener: (error: NodeJS.ErrnoException) => void): unknown
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
}

/** Standard output or standard error, written line by line. */
class Channel {
  readonly #stream: OutputStream
  readonly colours: ReturnType<typeof createColors>
  /** Whether the stream can overwrite a line. */
  readonly isTerminal: boolean
  /** Listeners to call when the reader closes the stream. `undefined` after that. */
  #onClosed: (() => void)[] | undefined = []
  #failure: NodeJS.ErrnoException | undefined

  constructor(stream: OutputStream, env: NodeJS.ProcessEnv) {
    this.#stream = stream
    this.isTerminal = stream.isTTY === true && env.TERM !== 'dumb'
    this.colours = createColors(env.NO_COLOR ? false : env.FORCE_COLOR ? true : this.isTerminal)
    // A reader may close the stream early, for example `head`.
    stream.on('error', (error) => this.#onError(error))
  }

  /** The width of the terminal in characters. */
  get columns(): number {
    // A terminal that does not know its size reports 0.
    return this.#stream.columns || 80
  }

  /** Calls `listener` when the reader has closed the stream. */
  whenClosed(listener: () => void): void {
    if (this.#onClosed === undefined) listener()
    else this.#onClosed.push(listener)
  }

  line(...parts: Part[]): void {
    this.write(`${parts.map((part) => this.#render(part)).join('')}\n`)
  }

  /** Writes text without escaping it. Escape untrusted text first, for example with `toJsonText`. */
  write(text: string): void {
    if (this.#onClosed !== undefined) this.#stream.write(text)
  }

  #render(part: Part): string {
    if (typeof part !== 'object') return toVisible(String(part))
    return this.colours[part.style](toVisible(part.text))
  }

  /** Flushes the stream. Returns the write error, if any. A stream closed by its reader is not an error. */
  async flush(): Promise<NodeJS.ErrnoException | undefined> {
    if (this.#onClosed !== undefined) await new Promise<void>((resolve) => this.#stream.write('', resolve))
    // The error event comes after the callback of the write.
    await new Promise((resolve) => setImmediate(resolve))
    return this.#failure
  }

  #onError(error: NodeJS.ErrnoException): void {
    if (error.code !== 'EPIPE') this.#failure ??= error
    const listeners = this.#onClosed ?? []
    this.#onClosed = undefined
    for (const listener of listeners) listener()
  }
}

/** The output of a command: results go to `out`, everything else to `err`. */
export interface Output {
  readonly out: Channel
  readonly err: Channel
  /** Whether results are printed as JSON. */
  json: boolean
  /** Prints a result as one line of JSON, or as text with `printText`. */
  result(fields: Readonly<Record<string, unknown>>, printText?: (out: Channel) => void): void
}

export function createOutput(
  streams: { readonly stdout: OutputStream; readonly stderr: OutputStream },
  env: NodeJS.ProcessEnv,
  json: boolean,
): Output {
  const out = new Channel(streams.stdout, env)
  return {
    out,
    err: new Channel(streams.stderr, env),
    json,
    result(fields, printText) {
      if (this.json) out.write(`${toJsonLine({ version: JSON_VERSION, ...fields })}\n`)
      else printText?.(out)
    },
  }
}

import { createColors } from 'picocolors'
import { toJsonLine, toVisible } from '../shared/text/visible-text.ts'

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

interface Styled {
  readonly text: string
  readonly style: Style
}

/** A piece of a line: shown as it is but for terminal controls, wherever it comes from. */
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

/** A line as a file has it. */
export const plainLine = (parts: readonly Part[]): string =>
  parts.map((part) => toVisible(typeof part === 'object' ? part.text : String(part))).join('')

/** The version of every line that `--json` prints. It rises when a field is renamed or removed. */
const JSON_VERSION = 1

export interface OutputStream {
  write(text: string, done?: () => void): unknown
  on(event: 'error', listener: (error: NodeJS.ErrnoException) => void): unknown
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
}

/** One of the two streams, by lines. */
class Channel {
  readonly #stream: OutputStream
  readonly colours: ReturnType<typeof createColors>
  /** Whether somebody watches who can be shown lines that change. */
  readonly isLively: boolean
  #gone: (() => void)[] | undefined = []
  #failure: NodeJS.ErrnoException | undefined

  constructor(stream: OutputStream, env: NodeJS.ProcessEnv) {
    this.#stream = stream
    this.isLively = stream.isTTY === true && env.TERM !== 'dumb'
    this.colours = createColors(env.NO_COLOR ? false : env.FORCE_COLOR ? true : this.isLively)
    // Whoever reads may have had enough (`| head`): that is no reason to leave the work half done.
    stream.on('error', (error) => this.#onGone(error))
  }

  /** Tells of a reader who has gone away. */
  whenGone(listener: () => void): void {
    if (this.#gone === undefined) listener()
    else this.#gone.push(listener)
  }

  line(...parts: Part[]): void {
    this.write(`${parts.map((part) => this.#render(part)).join('')}\n`)
  }

  /** Text that is known to be safe: our own, or made by `toJsonText`. */
  write(text: string): void {
    if (this.#gone !== undefined) this.#stream.write(text)
  }

  #render(part: Part): string {
    if (typeof part !== 'object') return toVisible(String(part))
    return this.colours[part.style](toVisible(part.text))
  }

  /** Why not all of it could be written, other than that its reader has gone; once everything is on its way. */
  async failure(): Promise<NodeJS.ErrnoException | undefined> {
    if (this.#gone !== undefined) await new Promise<void>((resolve) => this.#stream.write('', resolve))
    // The stream tells of an error a moment after that.
    await new Promise((resolve) => setImmediate(resolve))
    return this.#failure
  }

  #onGone(error: NodeJS.ErrnoException): void {
    if (error.code !== 'EPIPE') this.#failure ??= error
    const listeners = this.#gone ?? []
    this.#gone = undefined
    for (const listener of listeners) listener()
  }
}

/** Where a command says what it has to say. Results go to `out`, everything else to `err`. */
export interface Output {
  readonly out: Channel
  readonly err: Channel
  /** Whether the result is wanted as a line of JSON. */
  json: boolean
  /** The stream under `err`, for the bar. */
  readonly errStream: OutputStream
  /** A result: as one line of JSON with its version where that is wanted, otherwise in words. */
  result(fields: Readonly<Record<string, unknown>>, inWords: (out: Channel) => void): void
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
    errStream: streams.stderr,
    json,
    result(fields, inWords) {
      if (this.json) out.write(`${toJsonLine({ version: JSON_VERSION, ...fields })}\n`)
      else inWords(out)
    },
  }
}

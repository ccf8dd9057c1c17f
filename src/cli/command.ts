import { Command as BaseCommand, InvalidArgumentError, Option } from 'commander'
import { MAX_DIGITS, MAX_PATIENCE_MS } from '../shared/award.ts'
import { WALLET_ADDRESS } from '../shared/wallet-address.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import type { Interrupts } from './interrupts.ts'
import type { Output } from './output.ts'

/** Passed to every command. */
export interface Context {
  readonly output: Output
  readonly env: NodeJS.ProcessEnv
  readonly interrupts: Interrupts
  /** The arguments of the command line. */
  readonly argv: readonly string[]
}

/** The widest line of a help, in characters. */
export const MAX_HELP_WIDTH = 100

/** Breaks a long command line before flags, so that it can still be pasted. */
function broken(line: string): string {
  if (line.length <= MAX_HELP_WIDTH) return line
  const at = line.lastIndexOf(' --', MAX_HELP_WIDTH - 2)
  return `${line.slice(0, at)} \\\n${broken(`     ${line.slice(at)}`)}`
}

/** A commander `Command` that can show examples in its help and has an exit code. */
export class Command extends BaseCommand {
  /** The exit code of the body, once it has run. */
  exitCode: ExitCode = EXIT.done

  override createCommand(name?: string): Command {
    return new Command(name)
  }

  examples(...lines: readonly string[]): this {
    return this.addHelpText(
      'after',
      ['', 'Examples:', ...lines.map((line) => broken(`  $ npx campaign-client ${line}`))].join('\n'),
    )
  }

  /** Sets the body of the command. The body resolves to the exit code. */
  run<Arguments extends unknown[]>(body: (...given: Arguments) => Promise<ExitCode>): this {
    return this.action(async (...given: Arguments) => {
      this.exitCode = await body(...given)
    })
  }
}

/** Digits with an optional point. Thousands separators and exponents are ambiguous, so they do not match. */
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/

/** Returns whether a number has more digits than a JavaScript number can represent. */
export const hasTooManyDigits = (text: string): boolean => text.replace(/^[+-]?[0.]*|\./g, '').length > MAX_DIGITS

/** Parses a decimal number. @throws InvalidArgumentError. Commander adds the name of the flag */
export function decimal(text: string): number {
  if (!DECIMAL.test(text)) throw new InvalidArgumentError('Use digits only, for example 250 or 12.5.')
  if (hasTooManyDigits(text)) throw new InvalidArgumentError(`It must not have more than ${MAX_DIGITS} digits.`)
  return Number(text)
}

/** Parses a whole number from `min` to `max`. */
export const wholeNumberFlag =
  (min: number, max: number) =>
  (text: string): number => {
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= min && value <= max) return value
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`)
  }

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 }

/** Parses a duration such as `30s`, `10m` or `2h`, from `0s` to `24h`. Returns milliseconds. */
export function duration(text: string): number {
  const [, digits, unit = ''] = /^(\d+)([smh])$/.exec(text) ?? []
  const ms = Number(digits) * (UNIT_MS[unit] ?? Number.NaN)
  if (ms <= MAX_PATIENCE_MS) return ms
  throw new InvalidArgumentError('It must be a whole number with s, m or h, from 0s to 24h, for example 10m.')
}

export const port = wholeNumberFlag(0, 65_535)

/** Accepts any text that is not blank. */
export function text(given: string): string {
  if (given.trim() !== '') return given
  throw new InvalidArgumentError('It must not be empty.')
}

/** Accepts an http or https URL without a password: URLs end up in logs. Returns it in its normal form. */
export function httpUrl(text: string): string {
  const { protocol, username, password, href } = URL.canParse(text) ? new URL(text) : { protocol: '', href: '' }
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new InvalidArgumentError('It must be a URL that starts with http:// or https://.')
  }
  if (username || password) throw new InvalidArgumentError('It must not contain a user name or a password.')
  return href
}

/** Accepts a wallet address. */
export function walletAddress(given: string): string {
  if (WALLET_ADDRESS.test(given)) return given
  throw new InvalidArgumentError('It must be 0x and 40 hex digits.')
}

/** Accepts a host name or IP address, without scheme and port. */
export function hostName(text: string): string {
  const url = URL.canParse(`http://${text}`) ? new URL(`http://${text}`) : undefined
  if (url?.host === text.toLowerCase() && url.port === '') return text
  throw new InvalidArgumentError('It must be a host name or an address, without scheme and port.')
}

/** An option that may be given more than once. Its value is the list of all values. */
export class RepeatableOption<Value> extends Option {
  constructor(flags: string, description: string, read: (text: string, before: readonly Value[]) => Value) {
    super(flags, `${description} (repeatable)`)
    this.argParser((text, before: readonly Value[] = []) => [...before, read(text, before)])
  }
}

export type Pair = readonly [name: string, value: string]

/** Parses `NAME=VALUE`. @throws InvalidArgumentError when an earlier pair has the same name */
export function pair(text: string, before: readonly Pair[]): Pair {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('Put = between the name and the value.')
  const name = text.slice(0, at)
  if (before.some(([other]) => other === name)) {
    throw new InvalidArgumentError(`${JSON.stringify(name)} is given twice.`)
  }
  return [name, text.slice(at + 1)]
}

/** Creates the option `--query` for undocumented query parameters. */
export const queryOption = (): Option => new RepeatableOption('--query <name=value>', 'add a query parameter', pair)

/** Makes the command and its subcommands fail when a flag is given twice. */
export function refuseRepeatedFlags(command: BaseCommand): void {
  for (const option of command.options) {
    if (option instanceof RepeatableOption) continue
    let isGiven = false
    command.on(`option:${option.name()}`, () => {
      if (isGiven) command.error(`option '${option.flags}' is given twice`)
      isGiven = true
    })
  }
  for (const subcommand of command.commands) refuseRepeatedFlags(subcommand)
}

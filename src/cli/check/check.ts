import { toJsonText } from '../../shared/text.ts'
import { sleep } from '../../shared/timers.ts'
import type { Context } from '../command.ts'
import {
  adviceOnError,
  connect,
  currentTokenOf,
  isReadOnly,
  normalBaseUrlOf,
  proxyAgentFor,
  readOnlyFailure,
  requireAllowedCampaign,
  tokenFilesOf,
} from '../connection.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { ADVICE, CommandFailure, UNKNOWN_OUTCOME_ADVICE, unknownOutcomeFailure, usageFailure } from '../failure.ts'
import { checkOutputFile, outputFailure, replaceFile } from '../files.ts'
import { bold, confirm, dim, green, type Part, yellow } from '../output.ts'
import { isReply, Probe } from './probe.ts'
import {
  type Answer,
  answerOf,
  changesBetween,
  isAnswered,
  type Profile,
  type Result,
  readProfile,
  type Target,
  targetOf,
} from './profile.ts'
import { Check, type CheckArguments, type CheckFinding, describeReply, type Question } from './question.ts'
import { campaign, shapes } from './questions/data.ts'
import { names } from './questions/names.ts'
import { access, errors, timing, tokenQuestion } from './questions/service.ts'
import { awardOf, isOutcomeUnknown, writes } from './questions/writes.ts'

export interface CheckFlags extends CheckArguments {
  readonly yes?: boolean
  readonly save?: string
  readonly against?: string
  readonly readOnly?: boolean
}

/** Asks the service each question, prints the results and saves the profile. */
export async function checkService(
  flags: CheckFlags,
  maxRequests: number,
  { output, env, interrupts }: Context,
): Promise<ExitCode> {
  checkFlags(flags, env)
  // Creating a client checks the environment.
  await connect(env)
  const baseUrl = normalBaseUrlOf(env)
  const token = currentTokenOf(env)
  const target = targetOf(baseUrl, token)
  const warn = (message: string): void => output.err.line('warning  ', message)
  const earlier = flags.against === undefined ? undefined : await readProfile(flags.against, target, flags.pid, warn)
  const { save } = flags
  if (save !== undefined) await checkOutputFile('--save', save, tokenFilesOf(env))
  if (flags.allowWrites) await confirmWrite(flags, (line) => output.err.line(line))

  const { nodeTransport } = await import('../../transports/node/index.ts')
  const agent = await proxyAgentFor(baseUrl)
  const transport = nodeTransport(agent && { agent })
  const signal = flags.allowWrites ? interrupts.abortOnFirst() : new AbortController().signal
  const { isTerminal } = output.err
  if (!isTerminal) output.err.line(`sending at most ${maxRequests} requests`)
  const probe = new Probe({
    transport,
    baseUrl,
    token,
    maxRequests,
    signal,
    wait: (ms) => sleep(ms, signal).catch(() => undefined),
    onRequest: (count) =>
      isTerminal && output.err.write(`\r\u001b[Ksending request ${count} of at most ${maxRequests}`),
  })
  const check = new Check(flags, probe)
  const answered = await runCheck(check)
  if (isTerminal) output.err.write('\r\u001b[K')
  transport.close()
  if (signal.aborted) {
    if (isOutcomeUnknown(check)) throw unknownOutcomeFailure('interrupted', 'interrupted during the award')
    interrupts.raise()
    return EXIT.incomplete
  }

  const { profile, changes, exitCode, failure } = resultOf(check, answered, target, earlier)
  if (failure && exitCode !== EXIT.unknownOutcome) throw failure
  if (save !== undefined) {
    await replaceFile(save, `${toJsonText(profile)}\n`).catch((error: unknown) => {
      throw outputFailure('--save', save, error)
    })
  }
  output.result({ ...profile, ...(earlier && { changes }), exitCode }, (out) => {
    printTable(answered, changes, (...parts) => out.line(...parts))
  })
  if (exitCode === EXIT.unknownOutcome) output.err.line('the outcome of the award is unknown: ', UNKNOWN_OUTCOME_ADVICE)
  if (save !== undefined) output.err.line('wrote ', save)
  return exitCode
}

/** @throws CommandFailure when flags do not fit together, or a write is forbidden */
function checkFlags(flags: CheckFlags, env: NodeJS.ProcessEnv): void {
  const { account, platform } = flags
  if (account !== undefined && platform === undefined) throw usageFailure('--account needs --platform')
  if (platform !== undefined && account === undefined) throw usageFailure('--platform needs --account')
  if (flags.allowWrites && flags.address === undefined) throw usageFailure('--allow-writes needs --address')
  if (!flags.allowWrites) return
  if (isReadOnly(env, flags.readOnly)) throw readOnlyFailure('check --allow-writes')
  requireAllowedCampaign(env, flags.pid, `writes to "${flags.pid}"`)
}

/** Describes the award and asks for confirmation. @throws CommandFailure when it is declined */
async function confirmWrite(flags: CheckFlags, printLine: (line: string) => void): Promise<void> {
  const { address, pid, id, xp } = awardOf(flags)
  printLine(`--allow-writes sends one award twice: ${xp} XP to ${address} in the campaign ${pid}, with the id ${id}.`)
  printLine('The service must refuse the second request. In later runs, it must refuse both requests.')
  if (!flags.yes) await confirm('Send the award? [y/N] ', /^y(?:es)?$/i, 'add --yes')
}

const WIDTH = "can't tell".length

const coloured = (result: Result): Part => {
  const padded = result.padEnd(WIDTH)
  return result === 'as assumed' ? green(padded) : result === 'differs' ? yellow(padded) : dim(padded)
}

/** Prints the results by group, with advice for each difference. */
function printTable(
  answered: readonly AnsweredQuestion[],
  changes: readonly string[],
  line: (...parts: Part[]) => void,
): void {
  let lastGroup = ''
  for (const { question, finding } of answered) {
    const [group = ''] = question.id.split('.')
    if (group !== lastGroup) line(bold(group))
    lastGroup = group
    const { result, note = '', advice } = finding
    const text = result === 'as assumed' ? [question.assumed, note].filter((part) => part !== '').join(', ') : note
    const assumed = result === 'differs' ? ` (assumed: ${question.assumed})` : ''
    const changed = changes.includes(question.id) ? '  changed' : ''
    line('  ', coloured(result), '  ', question.text, ': ', text, dim(assumed), yellow(changed))
    if (advice) line(' '.repeat(WIDTH + 4), dim('↳ '), advice)
  }
  const count = (result: Result): number => answered.filter(({ finding }) => finding.result === result).length
  line(
    `${count('as assumed')} as assumed, ${count('differs')} differs, ${count("can't tell")} can't tell, `,
    `${count('not asked')} not asked`,
  )
  if (changes.length > 0) line(yellow('changed since the profile was saved: '), changes.join(', '))
}

const QUESTIONS: readonly Question[] = [...access, ...shapes, ...errors, ...names, ...campaign, ...timing, ...writes]

/** A question with its result. */
export interface AnsweredQuestion {
  readonly question: Question
  readonly finding: CheckFinding
}

/**
 * Asks all questions whose arguments are given, then judges the answers. The token question is asked last and returned first:
 * see {@link tokenQuestion}.
 */
export async function runCheck(check: Check): Promise<readonly AnsweredQuestion[]> {
  const asked = new Map<Question, unknown>()
  for (const question of [...QUESTIONS, tokenQuestion]) {
    if (missingFlags(question, check.args).length === 0) asked.set(question, await question.ask?.(check))
  }
  return [tokenQuestion, ...QUESTIONS].map((question) => {
    if (asked.has(question)) return { question, finding: question.judge(check, asked.get(question)) }
    const note = `needs ${missingFlags(question, check.args).join(', ')}`
    return { question, finding: { result: 'not asked', note } }
  })
}

const missingFlags = ({ needs = [] }: Question, args: CheckArguments): readonly string[] =>
  needs.filter((name) => !args[name]).map((name) => (name === 'allowWrites' ? '--allow-writes' : `--${name}`))

/** The results of a run. */
export interface CheckResult {
  readonly profile: Profile
  /** The fields that differ from the earlier profile: IDs of questions, `'client.queryNames'` or `'award'`. */
  readonly changes: readonly string[]
  readonly exitCode: ExitCode
  /** Set if no read worked: the answers then mean nothing. */
  readonly failure?: CommandFailure | undefined
}

/** Turns the answers of a run into a profile, compares it with an earlier profile, and decides the exit code. */
export function resultOf(
  check: Check,
  answered: readonly AnsweredQuestion[],
  target: Target,
  earlier: Profile | undefined,
): CheckResult {
  let award = check.awards.shown ?? {}
  const answers = answered.map(({ question, finding: { result, detail } }): Answer => {
    const before = earlier && answerOf(earlier, question.id)
    // Only the first award to a wallet can answer the `writes` questions. Later runs copy those answers.
    if (isAnswered(before) && writes.includes(question) && result === "can't tell") {
      award = { ...earlier?.award, ...award }
      return before
    }
    return { question: question.id, result, ...(detail && { detail }) }
  })
  const profile: Profile = {
    version: 1,
    checkedAt: new Date().toISOString(),
    target,
    pid: check.args.pid,
    client: check.queryNames.size > 0 ? { queryNames: Object.fromEntries(check.queryNames) } : {},
    award,
    answers,
  }
  const changes = earlier === undefined ? [] : changesBetween(earlier, profile)
  const failure = failureOf(check)
  const hasDifference = changes.length > 0 || answers.some(({ result }) => result === 'differs')
  const exitCode = isOutcomeUnknown(check)
    ? EXIT.unknownOutcome
    : (failure?.exitCode ?? (hasDifference ? EXIT.incomplete : EXIT.done))
  return { profile, changes, exitCode, failure }
}

/** The failure of a run in which no read worked: the token or the campaign is refused, or the service is unreachable. */
function failureOf({ reads, probe, args }: Check): CommandFailure | undefined {
  const { baseUrl } = probe.options
  const fail = (exitCode: ExitCode, code: string, message: string, advice = ADVICE[code]): CommandFailure =>
    new CommandFailure(exitCode, code, message, { advice, result: { exitCode } })
  if (probe.isTokenRefused) return fail(EXIT.refused, 'unauthorized', `${baseUrl} refused the token: HTTP 401`)
  const outcomes = [...reads.values()]
  const replies = outcomes.filter(isReply)
  const [refusal] = replies
  if (refusal !== undefined) {
    if (replies.some(({ kind, status }) => status < 300 && kind !== 'error')) return undefined
    const isHtml = refusal.status === 403 && (refusal.header('content-type') ?? '').includes('html')
    const by = isHtml ? ' (the body is HTML, so probably a gateway in front of the service refused it)' : ''
    const refused = `every read of the campaign ${JSON.stringify(args.pid)}`
    const message = `${baseUrl} refused ${refused}: ${describeReply(refusal)}${by}`
    if (refusal.status === 403) return fail(EXIT.refused, 'access_denied', message)
    return fail(
      EXIT.refused,
      'api_error',
      message,
      'check CAMPAIGN_BASE_URL, which ends in /api/v1, and the campaign ID',
    )
  }
  const [noReply] = outcomes
  const { status, reason = 'no response', systemCode } = noReply?.kind === 'no reply' ? noReply : {}
  if (status === 429) return fail(EXIT.refused, 'rate_limited', `${baseUrl} limited the rate: HTTP 429`)
  if (status !== undefined) {
    return fail(EXIT.unreachable, 'service_error', `${baseUrl} gave no usable response: ${reason}`, ADVICE.network)
  }
  const advice = adviceOnError({ code: 'network', systemCode }, baseUrl)
  return fail(EXIT.unreachable, 'network', `${baseUrl} cannot be reached: ${reason}`, advice)
}

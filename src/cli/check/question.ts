import type { OperationName } from '../../endpoints/index.ts'
import { endpoints } from '../../endpoints/index.ts'
import { isReply, type Outcome, type Probe, type Reply } from './probe.ts'
import type { Profile, Result } from './profile.ts'

/** The arguments that the user gave. */
export interface CheckArguments {
  readonly pid: string
  readonly account?: string
  readonly platform?: string
  readonly code?: string
  readonly address?: string
  readonly allowWrites?: boolean
}

/** What a question found. */
export interface Finding {
  readonly result: Result
  /** For people. Never a value of a user. */
  readonly note?: string
  /** What to do about a difference. */
  readonly advice?: string
  readonly detail?: NonNullable<Profile['answers'][number]['detail']>
}

/** One question to the service. */
export interface Question {
  /** A stable name, for profiles. */
  readonly id: string
  /** What it is about, for the table. */
  readonly text: string
  /** What the package assumes; empty where it assumes nothing. */
  readonly assumed: string
  /** The flags without which it is not asked. */
  readonly needs?: readonly (keyof CheckArguments)[]
  /** Sends the requests of the question. */
  ask?(check: Check): Promise<void>
  /** Decides the result, once all questions were asked. */
  judge(check: Check): Finding
}

/** Questions that are asked and shown together. */
export interface Group {
  readonly title: string
  readonly questions: readonly Question[]
}

export type ReadOperation =
  | 'getCampaignInfo'
  | 'getCampaignPoints'
  | 'getUserProgress'
  | 'getUserProfiles'
  | 'getInviteCode'

/** The names under which the arguments of a read are sent. */
export type Names = Readonly<Record<string, string>>

/** What a run has been given, and what it has found so far. */
export class Check {
  readonly args: CheckArguments
  readonly probe: Probe
  readonly token: string
  readonly address: string
  /** The query names that proved to work, where they are not the assumed ones. */
  readonly queryNames = new Map<ReadOperation, Names>()
  readonly #reads = new Map<ReadOperation, Outcome>()
  /** The first reply of the service, and when it came. */
  firstReply: Reply | undefined
  firstReplyAt = 0

  constructor(args: CheckArguments, probe: Probe, token: string, address: string) {
    this.args = args
    this.probe = probe
    this.token = token
    this.address = address
  }

  /** Sends a read with the assumed names, once. */
  async read(operation: ReadOperation): Promise<Outcome> {
    const outcome = this.#reads.get(operation) ?? (await this.send(operation, {}))
    this.#reads.set(operation, outcome)
    if (this.firstReply === undefined && isReply(outcome)) {
      this.firstReply = outcome
      this.firstReplyAt = Date.now()
    }
    return outcome
  }

  /** Whether a key from the service may be shown: it looks like the name of a field, and is no value that the user gave. */
  isFieldName(key: string): boolean {
    const given = [this.token, ...Object.values(this.args)].filter((value) => typeof value === 'string')
    return (
      /^[a-z_]\w{0,39}$/i.test(key) &&
      !given.some((value) => value !== '' && (key.includes(value) || value.includes(key)))
    )
  }

  /** Sends a read with other names or values. */
  send(operation: ReadOperation, names: Names, values: Partial<CheckArguments> = {}): Promise<Outcome> {
    const { path = '' } = endpoints[operation]
    return this.probe.get(path, this.queryOf(operation, names, values))
  }

  queryOf(operation: ReadOperation, names: Names, values: Partial<CheckArguments> = {}): Record<string, string> {
    const given: Readonly<Record<string, unknown>> = { ...this.args, ...values }
    return Object.fromEntries(argumentsOf(operation).map((name) => [names[name] ?? name, String(given[name])]))
  }

  /** The outcome of a read with the names that work, or with the assumed ones. */
  outcome(operation: ReadOperation): Outcome | undefined {
    return this.#reads.get(operation)
  }

  /** Records names that work, and the reply that proved it. */
  learn(operation: ReadOperation, names: Names, reply: Outcome): void {
    this.queryNames.set(operation, names)
    this.#reads.set(operation, reply)
  }

  /** A read that gave data, for questions that need one. */
  workingRead(): ReadOperation | undefined {
    return [...this.#reads].find(([, outcome]) => isReply(outcome) && outcome.body.kind === 'data')?.[0]
  }
}

/** The arguments of each read. */
export const argumentsOf = (operation: ReadOperation): readonly (keyof CheckArguments)[] => ARGUMENTS[operation]

const ARGUMENTS = {
  getCampaignInfo: ['pid'],
  getCampaignPoints: ['pid'],
  getUserProgress: ['account', 'platform', 'pid'],
  getUserProfiles: ['account', 'platform', 'pid'],
  getInviteCode: ['code', 'pid'],
} as const satisfies Partial<Record<OperationName, readonly (keyof CheckArguments)[]>>

export const asAssumed = (note?: string): Finding => ({ result: 'as assumed', ...(note && { note }) })

export const differs = (note: string, advice: string, detail?: Finding['detail']): Finding => ({
  result: 'differs',
  note,
  advice,
  ...(detail && { detail }),
})

export const cannotTell = (note: string, detail?: Finding['detail']): Finding => ({
  result: "can't tell",
  note,
  ...(detail && { detail }),
})

/** The finding where there was no reply, or an error in place of data. */
export function noData(outcome: Outcome | undefined): Finding {
  if (outcome === undefined) return cannotTell('it was not reached')
  if (!isReply(outcome))
    return cannotTell(outcome.reason, outcome.status === undefined ? undefined : { status: outcome.status })
  const { status, body } = outcome
  return cannotTell(`HTTP ${status}${body.kind === 'error' ? `, ${body.form} error` : ''}`, errorDetail(outcome))
}

/** The status, code and form of an error, for a profile. */
export function errorDetail(outcome: Outcome): NonNullable<Finding['detail']> {
  if (!isReply(outcome)) return outcome.status === undefined ? {} : { status: outcome.status }
  const { status, body } = outcome
  if (body.kind === 'data') return { status }
  return { status, form: body.form, ...(body.kind === 'error' && body.code !== undefined && { code: body.code }) }
}

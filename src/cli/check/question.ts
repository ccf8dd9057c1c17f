import type { endpoints } from '../../endpoints/index.ts'
import { isReply, type Outcome, type Probe, type Reply } from './probe.ts'
import type { Profile, Result } from './profile.ts'

export interface CheckArguments {
  readonly pid: string
  readonly account?: string
  readonly platform?: string
  readonly code?: string
  readonly address?: string
  readonly allowWrites?: boolean
}

type Detail = Profile['answers'][number]['detail']

/** The result of a question. */
export interface CheckFinding {
  readonly result: Result
  /** A short explanation, without personal data. */
  readonly note?: string | undefined
  /** How to handle a difference. */
  readonly advice?: string | undefined
  readonly detail?: Detail
}

/** A question about the service. */
export interface Question<Answer = unknown> {
  /** A stable id, for profiles: the group, a dot and a name. */
  readonly id: string
  /** The text in the table. */
  readonly text: string
  /** The assumption of this package; empty if there is none. */
  readonly assumed: string
  /** The flags that the question needs. */
  readonly needs?: readonly (keyof CheckArguments)[]
  /** Sends the requests of the question. */
  ask?(check: Check): Promise<Answer>
  /** Returns the result. Called after all questions have sent their requests. */
  judge(check: Check, answer: Answer): CheckFinding
}

/** The reads to send, and their arguments. */
export const READS = {
  getCampaignInfo: ['pid'],
  getCampaignPoints: ['pid'],
  getUserProgress: ['account', 'platform', 'pid'],
  getUserProfiles: ['account', 'platform', 'pid'],
  getInviteCode: ['code', 'pid'],
} as const satisfies Partial<Record<keyof typeof endpoints, readonly (keyof CheckArguments)[]>>

export type ReadOperation = keyof typeof READS

/** Query names that differ from the names of the arguments. */
export type QueryNames = Readonly<Record<string, string>>

interface SendOptions {
  /** @defaultValue the proven names if there are any, otherwise the assumed names */
  readonly names?: QueryNames
  /** Values that replace arguments of the command. */
  readonly values?: Partial<CheckArguments>
  /** Replaces the token of the command. */
  readonly token?: string
}

/** A run: its arguments and its results so far. */
export class Check {
  readonly args: CheckArguments
  readonly probe: Probe
  /** The query names that a request of this run proved, where they differ from the assumed names. */
  readonly queryNames = new Map<ReadOperation, QueryNames>()
  /** The outcomes of the two awards of `--allow-writes`. `shown` is the format of the award in the wallet's progress. */
  readonly awards: { first?: Outcome; second?: Outcome; shown?: Profile['award'] } = {}
  /** The outcome of each read. A read with proven names replaces the read with the assumed names. */
  readonly reads = new Map<ReadOperation, Outcome>()

  constructor(args: CheckArguments, probe: Probe) {
    this.args = args
    this.probe = probe
  }

  send(operation: ReadOperation, { names, values, token }: SendOptions = {}): Promise<Outcome> {
    const sentNames = names ?? this.queryNames.get(operation) ?? {}
    const given = { ...this.args, ...values }
    const query = READS[operation].map((name) => [sentNames[name] ?? name, String(given[name])])
    return this.probe.get(operation, Object.fromEntries(query), token)
  }

  /** Returns the outcome of a read. Sends the read if it has no outcome yet. */
  async read(operation: ReadOperation): Promise<Outcome> {
    const outcome = this.reads.get(operation) ?? (await this.send(operation))
    this.reads.set(operation, outcome)
    return outcome
  }

  /** The first reply to a read. */
  get firstReply(): Reply | undefined {
    return [...this.reads.values()].find(isReply)
  }

  /** A read that returned data. */
  get workingRead(): ReadOperation | undefined {
    return [...this.reads].find(([, { kind }]) => kind === 'data')?.[0]
  }
}

export const asAssumed = (note?: string, detail?: Detail): CheckFinding => ({ result: 'as assumed', note, detail })

export const differs = (note: string, advice: string, detail?: Detail): CheckFinding => ({
  result: 'differs',
  note,
  advice,
  detail,
})

export const cannotTell = (note: string, detail?: Detail): CheckFinding => ({ result: "can't tell", note, detail })

/** Returns the finding for an outcome without usable data. */
export function noData(outcome: Outcome | undefined): CheckFinding {
  if (outcome === undefined) return cannotTell('no read got a response')
  if (isReply(outcome)) {
    const isOtherShape = outcome.status < 300 && outcome.kind === 'data'
    return cannotTell(
      isOtherShape ? 'the data does not fit the API description' : describeReply(outcome),
      detailOf(outcome),
    )
  }
  const { reason, status } = outcome
  return cannotTell(reason, status === undefined ? undefined : { status })
}

/** Describes a reply in a few words. */
export const describeReply = ({ status, kind, form }: Reply): string =>
  `HTTP ${status}, ${kind === 'error' ? `${form} error` : form}`

/** Returns the status, form and error code of a reply, for a profile. */
export const detailOf = ({ status, form, code }: Reply): Detail => ({
  status,
  form,
  ...(code !== undefined && { code }),
})

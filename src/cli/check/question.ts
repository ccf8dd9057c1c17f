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

type Detail = Profile['answers'][number]['detail']

/** The result of a question. */
export interface Finding {
  readonly result: Result
  /** For people. Never a value of a user. */
  readonly note?: string | undefined
  /** What to do about a difference. */
  readonly advice?: string | undefined
  readonly detail?: Detail
}

/** One question to the service. */
export interface Question<Answer = unknown> {
  /** A stable name, for profiles. Its first part is the group. */
  readonly id: string
  /** The subject, for the table. */
  readonly text: string
  /** What the package assumes; empty if it assumes nothing. */
  readonly assumed: string
  /** The flags without which it is not asked. */
  readonly needs?: readonly (keyof CheckArguments)[]
  /** Sends the requests of the question. */
  ask?(check: Check): Promise<Answer>
  /** Decides the result, after all questions were asked. */
  judge(check: Check, answer: Answer): Finding
}

/** The arguments of each read that is asked. */
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
  /** @defaultValue the names that proved to work, or else the assumed ones */
  readonly names?: QueryNames
  /** Values in place of those that the user gave. */
  readonly values?: Partial<CheckArguments>
  /** A token in place of the user's. */
  readonly token?: string
}

/** The arguments of a run, and what it has found so far. */
export class Check {
  readonly args: CheckArguments
  readonly probe: Probe
  /** The query names that proved to work, where they are not the assumed ones. */
  readonly queryNames = new Map<ReadOperation, QueryNames>()
  /** The two awards of `--allow-writes`, and how progress shows them. */
  readonly awards: { first?: Outcome; second?: Outcome; shown?: Profile['award'] } = {}
  /** The outcomes of the reads, with the names that work if any do. */
  readonly reads = new Map<ReadOperation, Outcome>()

  constructor(args: CheckArguments, probe: Probe) {
    this.args = args
    this.probe = probe
  }

  /** Sends a read. */
  send(operation: ReadOperation, { names, values, token }: SendOptions = {}): Promise<Outcome> {
    const sentNames = names ?? this.queryNames.get(operation) ?? {}
    const given = { ...this.args, ...values }
    const query = READS[operation].map((name) => [sentNames[name] ?? name, String(given[name])])
    return this.probe.get(endpoints[operation].path ?? '', Object.fromEntries(query), token)
  }

  /** Sends a read with the assumed names, once, and remembers its outcome. */
  async read(operation: ReadOperation): Promise<Outcome> {
    const outcome = this.reads.get(operation) ?? (await this.send(operation))
    this.reads.set(operation, outcome)
    return outcome
  }

  /** The first reply of the service to a read. */
  get firstReply(): Reply | undefined {
    return [...this.reads.values()].find(isReply)
  }

  /** A read that gave data, for questions that need one. */
  get workingRead(): ReadOperation | undefined {
    return [...this.reads].find(([, { kind }]) => kind === 'data')?.[0]
  }
}

export const asAssumed = (note?: string, detail?: Detail): Finding => ({ result: 'as assumed', note, detail })

export const differs = (note: string, advice: string, detail?: Detail): Finding => ({
  result: 'differs',
  note,
  advice,
  detail,
})

export const cannotTell = (note: string, detail?: Detail): Finding => ({ result: "can't tell", note, detail })

/** Returns the finding for an outcome that has no usable data. */
export function noData(outcome: Outcome | undefined): Finding {
  if (outcome === undefined) return cannotTell('no read was answered')
  if (isReply(outcome)) {
    const isMisfit = outcome.status < 300 && outcome.kind === 'data'
    return cannotTell(isMisfit ? 'the data does not fit the interface' : describe(outcome), detailOf(outcome))
  }
  const { reason, status } = outcome
  return cannotTell(reason, status === undefined ? undefined : { status })
}

/** Describes a reply for people. */
export const describe = ({ status, kind, form }: Reply): string =>
  `HTTP ${status}, ${kind === 'error' ? `${form} error` : form}`

/** Returns the status, form and error code of a reply, for a profile. */
export const detailOf = ({ status, form, code }: Reply): Detail => ({
  status,
  form,
  ...(code !== undefined && { code }),
})

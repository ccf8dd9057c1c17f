import type { AwardRow, SharedLedger } from 'campaign-client/bulk'
import {
  type AwardState,
  claimAward,
  completeAward,
  releaseAward,
  resultOf,
} from '../../src/bulk/ledger/award-state.ts'
import { type Attempt, LEDGER, type LedgerSession, requireTarget } from '../../src/bulk/ledger/ledger.ts'
import { isSameAward, isUnknown } from '../../src/shared/award.ts'
import type { ClientTarget } from '../../src/shared/client-internals.ts'
import { startTimer } from '../../src/shared/timers.ts'

/** What the database knows of an award. */
export interface StoredAward {
  readonly row: AwardRow
  /** With `claim: 'held'` until the lease ends. */
  readonly state: AwardState
  /** The attempt that holds the claim. */
  readonly token: string | undefined
  readonly leaseUntil: number
}

/** The database and its connections. */
export interface LedgerPorts {
  /** The database's clock, in milliseconds. */
  now(): number
  token(): string
  /** Sends a statement and returns its result. A lost connection rejects, before or after the statement took effect. */
  send<Result>(statement: () => Result): Promise<Result>
}

interface ModelAttempt extends Attempt {
  readonly token: string
  readonly stopExtending: () => void
}

/**
 * A model of `postgresLedger` in memory: the rule of `award-state.ts`, leases and targets. A test compares it with
 * `postgresLedger` for random commands.
 */
export class SharedLedgerModel {
  readonly awards = new Map<string, StoredAward>()
  target: ClientTarget | undefined
  readonly leaseMs: number

  constructor(leaseMs = 60_000) {
    this.leaseMs = leaseMs
  }

  /** Returns the ledger as one process has it. */
  ledger(ports: LedgerPorts): SharedLedger {
    const open = (target: ClientTarget | undefined) =>
      ports.send(() => {
        if (this.awards.size > 0) requireTarget('the ledger', this.target, target, undefined)
        return this.#session(ports, target)
      })
    return {
      kind: 'shared',
      run: 'simulation',
      [LEDGER]: { open, openForOne: open },
    }
  }

  /** Returns the state by the database's clock. */
  stateOf(id: string, now: number): AwardState | undefined {
    const stored = this.awards.get(id)
    if (stored === undefined || stored.state.claim === 'none' || now < stored.leaseUntil) return stored?.state
    return { ...stored.state, claim: 'expired' }
  }

  #store(row: AwardRow, state: AwardState | undefined, claim?: { token: string; leaseUntil: number }): void {
    const before = this.awards.get(row.id)
    if (state === undefined) this.awards.delete(row.id)
    // A statement that does not end the claim leaves its token and its lease.
    else if (state.claim === 'none') this.awards.set(row.id, { row, state, token: undefined, leaseUntil: 0 })
    else
      this.awards.set(row.id, {
        row,
        state: { ...state, claim: 'held' },
        token: before?.token,
        leaseUntil: before?.leaseUntil ?? 0,
        ...claim,
      })
  }

  #session(ports: LedgerPorts, target: ClientTarget | undefined): LedgerSession {
    const stateOf = ({ id }: AwardRow) => this.stateOf(id, ports.now())
    const conflictOf = (row: AwardRow) => {
      const known = this.awards.get(row.id)?.row
      return known && !isSameAward(row, known) ? known : undefined
    }
    const holds = ({ row, token }: ModelAttempt) => this.awards.get(row.id)?.token === token
    return {
      claim: async (row, retryable) => {
        const token = ports.token()
        const claim = await ports.send(() => {
          const known = conflictOf(row)
          if (known !== undefined) return { state: 'conflict', known } as const
          if (this.awards.size > 0) requireTarget('the ledger', this.target, target, undefined)
          const claimed = claimAward(stateOf(row), retryable)
          const leaseLeftMs = (this.awards.get(row.id)?.leaseUntil ?? 0) - ports.now()
          if (claimed.state === 'busy') return { state: 'busy', retryMs: Math.max(50, leaseLeftMs) } as const
          if (claimed.state === 'done') return claimed
          this.target = target
          this.#store(row, claimed.stored, { token, leaseUntil: ports.now() + this.leaseMs })
          return claimed
        })
        if (claim.state !== 'claimed') return claim
        const extend = () =>
          ports.send(() => {
            const stored = this.awards.get(row.id)
            if (stored?.token === token) this.awards.set(row.id, { ...stored, leaseUntil: ports.now() + this.leaseMs })
          })
        const { previousVerdict } = claim
        const { isInDoubt } = claim.stored
        const stopExtending = regularly(this.leaseMs / 3, extend)
        const attempt: ModelAttempt = { row, isInDoubt, previousVerdict, token, stopExtending }
        return { state: 'claimed', attempt }
      },
      complete: async (attempt, verdict, failure) => {
        const { row, isInDoubt, stopExtending } = attempt as ModelAttempt
        try {
          return await ports.send(() => {
            const holdsClaim = holds(attempt as ModelAttempt)
            const { stored, result } = completeAward(stateOf(row), { isInDoubt, holdsClaim }, verdict, failure)
            const isChanged = holdsClaim || verdict === 'awarded' || isUnknown(verdict) || stateOf(row) === undefined
            if (isChanged) this.#store(row, stored)
            return result
          })
        } finally {
          stopExtending()
        }
      },
      release: (attempt, failure) => {
        const { row, isInDoubt, previousVerdict, stopExtending } = attempt as ModelAttempt
        stopExtending()
        return ports.send(() => {
          const holdsClaim = holds(attempt as ModelAttempt)
          const ending = { isInDoubt, holdsClaim, previousVerdict }
          if (holdsClaim || isInDoubt) this.#store(row, releaseAward(stateOf(row), ending, failure))
        })
      },
      lookUp: (row) =>
        ports.send(() => {
          const state = stateOf(row)
          return state === undefined || conflictOf(row) ? undefined : resultOf(state)
        }),
      findConflict: (row) => ports.send(() => conflictOf(row)),
      close: async () => undefined,
    }
  }
}

/** Extends a lease until the returned function is called. */
function regularly(intervalMs: number, extend: () => Promise<void>): () => void {
  let isStopped = false
  let cancel = startTimer(intervalMs, again)
  async function again(): Promise<void> {
    await extend().catch(() => undefined)
    if (!isStopped) cancel = startTimer(intervalMs, again)
  }
  return () => {
    isStopped = true
    cancel()
  }
}

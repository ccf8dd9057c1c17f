import type { WorldName } from './index.ts'

/** A mistake in the package that the worlds must detect. */
export interface Mutation {
  readonly name: string
  readonly world: WorldName
  readonly file: string
  /** Occurs once in the file. */
  readonly from: string
  readonly to: string
}

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'an unsafe write is retried',
    world: 'awards',
    file: 'src/call/retry.ts',
    from: "return rule !== 'unsafe' &&",
    to: 'return',
  },
  {
    name: 'a lost connection counts as not sent',
    world: 'awards',
    file: 'src/call/retry.ts',
    from: "kind === 'no_response' || kind === 'not_understood' || status >= 500",
    to: "kind === 'not_understood' || status >= 500",
  },
  {
    name: 'a retry forgets that the attempt before may have been applied',
    world: 'awards',
    file: 'src/call/call.ts',
    from: 'this.#mayBeApplied ||= mayHaveBeenApplied(failure)',
    to: 'this.#mayBeApplied = mayHaveBeenApplied(failure)',
  },
  {
    name: 'the intent is committed after the request is sent',
    world: 'awards',
    file: 'src/bulk/ledger/file-ledger.ts',
    from: '    await this.#commit\n    return result',
    to: '    return result',
  },
  {
    name: 'the verdict is recorded before the response',
    world: 'awards',
    file: 'src/bulk/attempt.ts',
    from: 'await (options === undefined ?',
    to: 'void (options === undefined ?',
  },
  {
    name: 'an open award is not in doubt after a crash',
    world: 'awards',
    file: 'src/bulk/ledger/file-ledger.ts',
    from: 'isInDoubt: in_doubt === 1 || (verdict === null && error === null)',
    to: 'isInDoubt: false',
  },
  {
    name: 'an expired claim is not in doubt',
    world: 'awards',
    file: 'src/bulk/ledger/award-state.ts',
    from: '{ ...NEW, isInDoubt: true } : (stored ?? NEW)',
    to: 'NEW : (stored ?? NEW)',
  },
  {
    name: 'two processes claim one award',
    world: 'awards',
    file: 'src/bulk/ledger/award-state.ts',
    from: "if (stored?.claim === 'held') return { state: 'busy' }",
    to: '',
  },
  {
    name: 'an error forgets that an earlier call may have made the award',
    world: 'awards',
    file: 'src/errors/bulk-errors.ts',
    from: "init.isInDoubt ? 'unknown' : (",
    to: '(',
  },
  {
    name: 'the account is checked at the start of a run only',
    world: 'awards',
    file: 'src/call/call.ts',
    from: 'const foreign = this.#account && accountFailure(this.#operation, this.#account, token)',
    to: 'const foreign = undefined as Failure | undefined',
  },
  {
    name: 'several runs use one file',
    world: 'awards',
    file: 'src/bulk/ledger/file-ledger.ts',
    from: "const LOCK = 'PRAGMA locking_mode = EXCLUSIVE;",
    to: "const LOCK = '",
  },
  {
    name: 'a repeated row is sent twice',
    world: 'awards',
    file: 'src/bulk/run.ts',
    from: "if (seen === 'duplicate') return report.addDuplicate(row.xp)",
    to: '',
  },
  {
    name: 'a confirmed award in doubt counts as used before',
    world: 'awards',
    file: 'src/bulk/attempt.ts',
    from: "if (confirmed?.verdict === 'alreadyAwarded' && !maybeApplied) {",
    to: "if (confirmed?.verdict === 'alreadyAwarded') {",
  },
  {
    name: 'without a ledger, a refused award is rejected',
    world: 'awards',
    file: 'src/bulk/award-one.ts',
    from: 'claim.attempt.isInDoubt || (mayBeSent ?? ledger === undefined)',
    to: 'claim.attempt.isInDoubt || (mayBeSent ?? false)',
  },
  {
    name: 'a pause of a list outlives the run',
    world: 'awards',
    file: 'src/bulk/run.ts',
    from: 'await this.#resendUnknown()\n    // A pause that the last call started must not keep the process alive.\n    this.#pacer.stop()',
    to: 'await this.#resendUnknown()',
  },
  {
    name: 'a pause after a 429 ends without a probe',
    world: 'awards',
    file: 'src/call/rate-limiter.ts',
    from: 'this.#window = 1\n',
    to: 'this.#window = 1_000\n',
  },
  {
    name: 'Retry-After is ignored',
    world: 'awards',
    file: 'src/call/rate-limiter.ts',
    from: 'this.#pauseFor(retryAfterMs ?? ',
    to: 'this.#pauseFor(',
  },
  {
    name: 'a late token replaces a newer one',
    world: 'awards',
    file: 'src/call/tokens.ts',
    from: 'if (renewal > this.#cachedRenewal && ',
    to: 'if (',
  },
  {
    name: 'a token is not redacted',
    world: 'awards',
    file: 'src/call/redact.ts',
    from: 'const clean = redact(text.slice(0, MAX_TEXT_LENGTH), secrets)',
    to: 'const clean = text.slice(0, MAX_TEXT_LENGTH)',
  },
  {
    name: 'any signature is right',
    world: 'events',
    file: 'src/webhook/signature.ts',
    from: 'return keys.map((key) => constantTimeEqual(hmacSha256Hex(key, body), digits)).indexOf(true)',
    to: 'return 0',
  },
  {
    name: 'a live claim is taken over',
    world: 'events',
    file: 'src/webhook/stores/memory-store.ts',
    from: 'if (entry !== undefined && entry.expiresAt > time) {',
    to: "if (entry?.state === 'done' && entry.expiresAt > time) {",
  },
  {
    name: 'a claim is released without its token',
    world: 'events',
    file: 'src/webhook/stores/memory-store.ts',
    from: "if (entry?.state === 'claimed' && entry.token === token) entries.delete(key)",
    to: 'entries.delete(key)',
  },
  {
    name: 'the lease is not extended',
    world: 'events',
    file: 'src/webhook/receiver/handler-run.ts',
    from: 'if (now >= this.#extendAt) void this.#extend(now)',
    to: 'if (now >= this.#extendAt) this.#extendAt = this.#expiresAt += this.#delivery.settings.leaseMs',
  },
  {
    name: 'a handler that stopped early counts as done',
    world: 'events',
    file: 'src/webhook/receiver/handler-run.ts',
    from: 'if (!hasReadSignal || !lease.signal.aborted) return',
    to: 'return',
  },
  {
    name: 'a response past the deadline accepts the message',
    world: 'events',
    file: 'src/webhook/receiver/receiver.ts',
    from: "if (isLate) return this.#reject('past_deadline', { id })",
    to: "if (isLate) return accepted('handled')",
  },
  {
    name: 'a failed handler counts as done',
    world: 'events',
    file: 'src/webhook/receiver/receiver.ts',
    from: "if (outcome === 'failed') return this.#reject('handler_failed', { id })",
    to: "if (outcome === 'failed') return accepted('handled')",
  },
  {
    name: 'the lease is extended after maxRunMs',
    world: 'events',
    file: 'src/webhook/receiver/handler-run.ts',
    from: 'if (now >= this.#limit.until) {',
    to: 'if (now >= this.#limit.until + 60_000) {',
  },
  {
    name: 'a release drops the message that it should keep',
    world: 'events',
    file: 'src/webhook/stores/sqlite-store.ts',
    from: 'AND endpoint IS NOT NULL RETURNING 1`,\n    take',
    to: 'AND endpoint IS NULL RETURNING 1`,\n    take',
  },
  {
    name: 'a replay takes no claim',
    world: 'events',
    file: 'src/webhook/stores/sqlite-store.ts',
    from: 'isExpired} RETURNING message',
    to: 'isKept} RETURNING message',
  },
  {
    name: 'runOnce runs twice',
    world: 'events',
    file: 'src/webhook/stores/sqlite-store.ts',
    from: 'connection.changes(sql.runOnce, key)',
    to: '(connection.changes(sql.runOnce, key) || key)',
  },
]

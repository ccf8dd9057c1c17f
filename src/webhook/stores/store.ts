/**
 * What a store answers when a receiver asks for a delivery.
 *
 * - `claimed`: the caller holds the delivery until the lease lapses. `token` is new for every claim and fences every
 *   later write.
 * - `done`: it was completed earlier and is still remembered.
 * - `busy`: another claim holds it. `retryMs` is how long that claim lasts if nobody extends it, in milliseconds.
 */
export type ClaimResult = { state: 'claimed'; token: string } | { state: 'done' } | { state: 'busy'; retryMs: number }

/**
 * Where a receiver remembers which deliveries are being handled and which are done. One record per key:
 *
 * ```text
 *            claim              complete
 *   absent ────────▶ claimed ──────────────▶ done ──(retainMs)──▶ absent
 *      ▲               │  ▲ extend
 *      └───────────────┘──┘
 *        release, or the lease lapses
 * ```
 *
 * Rules for whoever writes a store:
 *
 * - Every method is atomic: of any number of concurrent `claim`s for one key, from any process, at most one is
 *   answered `claimed`.
 * - Time is the store's own (`now()` of the database, the server's expiry), never the caller's: receivers on machines
 *   with different clocks must agree on when a lease lapsed.
 * - A write with a token that no longer holds the key changes nothing. That is what makes it harmless when a holder
 *   that was paused, or cut off from the store, comes back late.
 * - A rejected promise means "could not be done, or not known": the receiver treats it as the store being down, and
 *   never as an answer. One that resolves to something else than the types say, `undefined` for `true` for instance,
 *   counts as rejected, and `onError` is told.
 *
 * A claim the receiver gave up waiting for may still be made: it lapses after `leaseMs`.
 *
 * Keys are text of at most 512 characters (1 536 bytes as UTF-8), without NUL, line breaks or lone surrogates.
 *
 * Interface: [Delivery and retries](../../../docs/the-service.md#delivery-and-retries) (a message is delivered up to
 * five times; that several endpoints get the same payload is why a key holds the endpoint besides the id).
 */
export interface DeliveryStore {
  /**
   * Takes the delivery for `leaseMs` milliseconds, unless it is done or somebody holds it. A lapsed claim counts as
   * no claim: it is taken over, under a new token.
   *
   * @param key - the endpoint and the id of the message, as one string
   * @param leaseMs - how long the claim holds without being extended, in milliseconds; positive
   * @returns what became of it. Called again by the holder itself, the answer is `busy`: a claim is not re-entrant.
   */
  claim(key: string, leaseMs: number): Promise<ClaimResult>

  /**
   * Lets the claim last `leaseMs` milliseconds from now.
   *
   * @returns whether the token still holds the key. `false`, and no change, when the claim lapsed (taken over or not),
   * was released, or is done already.
   */
  extend(key: string, token: string, leaseMs: number): Promise<boolean>

  /**
   * Remembers the delivery as done for `retainMs` milliseconds, and ends the claim.
   *
   * When the claim lapsed or was released and nobody holds the key, the store records the delivery as well where it
   * can: the handler did its work, and remembering it spares a second run. A store that cannot tell answers `false`.
   *
   * @returns whether the delivery is recorded as done under this token. A second call with the same token answers `true`
   * again (the receiver makes a call again whose answer got lost). `false`, and no change, when another claim holds the key
   * or another holder completed it.
   */
  complete(key: string, token: string, retainMs: number): Promise<boolean>

  /**
   * Ends the claim, so that the next attempt can take it at once. Does nothing when the token does not hold the key;
   * a second call does nothing.
   */
  release(key: string, token: string): Promise<void>
}

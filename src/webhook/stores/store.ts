/**
 * The answer of a store to a claim.
 *
 * - `claimed`: the caller holds the delivery until the lease lapses. `token` is new for every claim and fences every
 *   later write.
 * - `done`: the delivery was completed earlier and is still remembered.
 * - `busy`: another claim holds it, for another `retryMs` milliseconds unless it is extended.
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
 * Rules for your own store:
 *
 * - Every method is atomic: of any number of concurrent claims of one key, from any process, at most one gets `claimed`.
 * - The store uses its own clock (`now()` of the database, the server's expiry), never the caller's: receivers on machines
 *   with different clocks must agree on when a lease lapsed.
 * - A write with a token that no longer holds the key changes nothing, so that a holder that was paused or cut off from
 *   the store does no harm when it comes back.
 * - A rejected promise means "not done, or unknown": the receiver treats the store as down. A promise that resolves to
 *   another type (`undefined` for `true`, say) counts as rejected, and `onError` is called.
 *
 * A claim that the receiver no longer waits for may still be made. The receiver then releases it, or it lapses.
 *
 * Keys are text of at most 512 characters (1 536 bytes as UTF-8), without NUL, line breaks or lone surrogates.
 *
 * Interface: [Delivery and retries](/the-service#delivery-and-retries) (a message is delivered up to
 * five times; several endpoints get the same payload, so a key holds the endpoint and the id).
 */
export interface DeliveryStore {
  /**
   * Claims the delivery for `leaseMs` milliseconds, unless it is done or claimed. A lapsed claim is taken over, with a new
   * token.
   *
   * @param key - the endpoint and the id of the message, as one string
   * @param leaseMs - how long the claim holds unless it is extended, in milliseconds; positive
   * @returns the answer; `busy` for the holder too, because a claim is not re-entrant
   */
  claim(key: string, leaseMs: number): Promise<ClaimResult>

  /**
   * Extends the claim to `leaseMs` milliseconds from now.
   *
   * @returns whether the token still holds the key. `false`, without a change, when the claim lapsed (taken over or not),
   * was released, or is done.
   */
  extend(key: string, token: string, leaseMs: number): Promise<boolean>

  /**
   * Ends the claim, and remembers the delivery as done for `retainMs` milliseconds.
   *
   * When the claim lapsed or was released and nobody holds the key, the store records the delivery where it can: the
   * handler did its work, and must not run again. A store that cannot know returns `false`.
   *
   * @returns whether the delivery is recorded as done with this token. `true` again for a second call with the same token,
   * because the receiver retries a call whose answer was lost. `false`, without a change, when another claim holds the key
   * or another holder completed it.
   */
  complete(key: string, token: string, retainMs: number): Promise<boolean>

  /**
   * Ends the claim, so that the next attempt can claim the delivery at once. Does nothing when the token does not hold the
   * key.
   */
  release(key: string, token: string): Promise<void>
}

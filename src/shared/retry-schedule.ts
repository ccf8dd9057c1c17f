/**
 * How long after the end of each failed attempt the next one follows.
 * Interface: [Delivery and retries](../../docs/the-service.md#delivery-and-retries).
 */
export const RETRY_DELAYS_MS: readonly number[] = [5_000, 30_000, 60_000, 300_000]

/** The longest of them. */
export const LAST_RETRY_DELAY_MS = 300_000

/** All of them together: from the first attempt to the last, at the least. */
export const RETRY_SPAN_MS = 5_000 + 30_000 + 60_000 + LAST_RETRY_DELAY_MS

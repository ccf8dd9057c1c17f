/**
 * The delays of the service before each retry of a webhook delivery, in milliseconds.
 * See "Delivery and retries" in docs/the-service.md.
 */
export const DELIVERY_DELAYS_MS: readonly number[] = [5_000, 30_000, 60_000, 300_000]

/** The longest delay. */
export const LAST_DELIVERY_DELAY_MS = 300_000

/**
 * The longest time that a claim may last, in milliseconds: the claim of a killed process must expire before the service sends the
 * last retry. 5 s are the margin for slow networks and inexact clocks.
 */
export const MAX_CLAIM_MS: number = LAST_DELIVERY_DELAY_MS - 5_000

/** The sum of the delays: the minimum time from the first attempt to the last. */
export const DELIVERY_SPAN_MS = 5_000 + 30_000 + 60_000 + LAST_DELIVERY_DELAY_MS

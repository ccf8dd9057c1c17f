/** How long after the end of each failed attempt the next one follows. Interface: Events, Delivery and retries. */
export const RETRY_DELAYS_MS: readonly number[] = [5_000, 30_000, 60_000, 300_000]

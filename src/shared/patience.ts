/** The longest time to wait for a service that stops responding: 24 hours. */
export const MAX_PATIENCE_MS = 24 * 60 * 60 * 1_000

/** The longest delay that timers hold; with a longer one they fire at once instead of late. */
export const LONGEST_TIMER_MS = 2_147_483_647

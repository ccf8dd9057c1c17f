/** XP within what a number can hold: JSON has no infinity, and would tell the client of null. */
export const finiteXp = (xp: number): number => Math.max(-Number.MAX_VALUE, Math.min(xp, Number.MAX_VALUE))

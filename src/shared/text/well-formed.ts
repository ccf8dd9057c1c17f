const LONE_SURROGATE = /\p{Surrogate}/u

/** Whether a text has no half of a surrogate pair, which encoding would silently replace by U+FFFD. */
export const isWellFormed = (text: string): boolean => !LONE_SURROGATE.test(text)

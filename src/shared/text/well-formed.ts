const LONE_SURROGATE = /\p{Surrogate}/u

/** Whether a text has no lone surrogate. UTF-8 encoding would silently replace it by U+FFFD. */
export const isWellFormed = (text: string): boolean => !LONE_SURROGATE.test(text)

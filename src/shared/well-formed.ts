const LONE_SURROGATE = /\p{Surrogate}/u

/** Whether the text holds no half of a surrogate pair, which encoding would turn into U+FFFD without a word. */
export const isWellFormed = (text: string): boolean => !LONE_SURROGATE.test(text)

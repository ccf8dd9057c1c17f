import { codePoint } from './read-csv.ts'

/**
 * Characters that nobody sees, and white space that looks like a space. Texts that look the same may differ in them, but
 * emoji and many languages need some of them.
 */
export const HIDDEN = /\p{Default_Ignorable_Code_Point}|(?! )\p{White_Space}/u
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu
const WHITE_SPACE = /\p{White_Space}/gu

/** Describes the first hidden character of a text; `undefined` if the text has none. */
export function hiddenCharacter(text: string): string | undefined {
  const [character] = HIDDEN.exec(text) ?? []
  if (character === undefined) return undefined
  return `${/\p{White_Space}/u.test(character) ? 'white space other than a space' : 'the invisible character'}: ${codePoint(character)}`
}

/** Returns a text without its hidden characters. */
export const withoutHidden = (text: string): string => text.replace(IGNORABLE, '').replace(WHITE_SPACE, ' ').trim()

/** Returns a reason as a reader sees it. */
export const visibleText = (reason: string): string => withoutHidden(reason.normalize('NFKC'))

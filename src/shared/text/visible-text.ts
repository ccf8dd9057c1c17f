/**
 * Characters that a terminal may act on instead of showing: controls, line separators, lone surrogates, and format
 * characters, which reverse or hide text. The two joiners are kept: emoji and whole scripts need them.
 */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu

/** Returns text from outside in one line, with control and format characters spelt out: `\u001b`. */
export const toVisible = (text: string): string => text.replace(UNSAFE, spell)

/** Returns JSON in one line. Control and format characters are escaped, which keeps the value the same. */
export const toJsonLine = (value: unknown): string => toVisible(JSON.stringify(value))

/** Returns indented JSON, escaped as by {@link toJsonLine}. */
export const toJsonText = (value: unknown): string =>
  JSON.stringify(value, undefined, 2).split('\n').map(toVisible).join('\n')

/** One JSON escape for each UTF-16 unit, so that the result may also stand inside a JSON string. */
function spell(character: string): string {
  let escapes = ''
  for (let index = 0; index < character.length; index++) {
    escapes += `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`
  }
  return escapes
}

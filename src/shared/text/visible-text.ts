/**
 * Characters that a terminal may not show as text: control characters, line separators, lone surrogates, and format
 * characters, which reverse or hide text. The two joiners are allowed, because emoji and some scripts need them.
 */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu

/** Returns untrusted text in one line, with control and format characters escaped: `\u001b`. */
export const toVisible = (text: string): string => text.replace(UNSAFE, escapeCharacter)

/** Returns JSON in one line, with control and format characters escaped. The value stays the same. */
export const toJsonLine = (value: unknown): string => toVisible(JSON.stringify(value))

/** Returns indented JSON, escaped as by {@link toJsonLine}. */
export const toJsonText = (value: unknown): string =>
  JSON.stringify(value, undefined, 2).split('\n').map(toVisible).join('\n')

/** Returns one escape for each UTF-16 unit, which is also valid inside a JSON string. */
function escapeCharacter(character: string): string {
  let escapes = ''
  for (let index = 0; index < character.length; index++) {
    escapes += `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`
  }
  return escapes
}

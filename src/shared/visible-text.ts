/**
 * Everything that a screen may act on instead of showing it: control characters of both sets, separators of lines, halves
 * of surrogate pairs, and format characters, which reverse or hide text. The two joiners stay: they shape emoji and
 * whole scripts, and move nothing.
 */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu

/** Text from a stranger in one line, with what a screen would act on spelt out: `\u001b`. */
export const toVisible = (text: string): string => text.replace(UNSAFE, spell)

/** JSON in one line. What a screen would act on is escaped, which leaves the value as it is. */
export const toJsonLine = (value: unknown): string => toVisible(JSON.stringify(value))

/** JSON over several lines, otherwise as {@link toJsonLine}. */
export const toJsonText = (value: unknown): string =>
  JSON.stringify(value, undefined, 2).split('\n').map(toVisible).join('\n')

/** The escapes of JSON, one for each UTF-16 unit, so that they may also stand inside a JSON string. */
function spell(character: string): string {
  let escapes = ''
  for (let index = 0; index < character.length; index++) {
    escapes += `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`
  }
  return escapes
}

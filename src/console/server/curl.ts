/** What a request has to hold to be written as a command. */
export interface Replayable {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly bodyText?: string
}

/** Headers that curl makes itself, or that belong to the connection. */
const LEFT_OUT =
  /^(?:host|connection|keep-alive|content-length|transfer-encoding|accept-encoding|accept-language|user-agent|expect|sec-.*)$/

/** The request as a command for bash or zsh, with the token left to its environment. */
export function toCurl({ method, url, headers, bodyText }: Replayable): string {
  const parts = ['curl']
  if (method !== 'GET') parts.push(`-X ${quote(method)}`)
  parts.push(quote(url), '-H "Authorization: Bearer $CAMPAIGN_ACCESS_TOKEN"')
  for (const [name, value] of Object.entries(headers)) {
    if (!LEFT_OUT.test(name)) parts.push(`-H ${quote(`${name}: ${value}`)}`)
  }
  if (bodyText !== undefined) parts.push(`--data-raw ${quote(bodyText)}`)
  return parts.join(' \\\n  ')
}

const PLAIN = /^[\w/.:@%+=,-]+$/
const CONTROL = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u
const ESCAPED = /[\\']|[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/**
 * One word of a shell. Control characters are spelt out: a terminal acts on them even within quotes when they are pasted,
 * and what follows would run.
 */
function quote(text: string): string {
  if (PLAIN.test(text)) return text
  if (!CONTROL.test(text)) return `'${text.replaceAll("'", "'\\''")}'`
  return `$'${text.replace(ESCAPED, spell)}'`
}

function spell(character: string): string {
  if (character === '\\' || character === "'") return `\\${character}`
  const code = character.codePointAt(0) ?? 0
  return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`
}

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0')

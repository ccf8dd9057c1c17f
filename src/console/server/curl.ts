import type { RequestRecord } from 'campaign-client/testing'

/** The parts of a request that the command contains. */
type CurlRequest = Pick<RequestRecord, 'method' | 'url' | 'headers' | 'bodyText'>

/** Headers that curl sets itself, and headers of the connection. */
const OMITTED_HEADERS =
  /^(?:host|connection|keep-alive|content-length|transfer-encoding|accept-encoding|accept-language|user-agent|expect|sec-.*)$/

const CONTROL = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

/** Returns the request as a command for sh. The command reads the token from the environment. The default token is `dev`. */
export function toCurl({ method, url, headers, bodyText }: CurlRequest): string {
  const parts = ['curl']
  if (method !== 'GET') parts.push(`-X ${quote(method)}`)
  parts.push(quote(url), `-H "Authorization: Bearer \${CAMPAIGN_ACCESS_TOKEN:-dev}"`)
  for (const [name, value] of Object.entries(headers)) {
    if (!OMITTED_HEADERS.test(name) && !CONTROL.test(value)) parts.push(`-H ${quote(`${name}: ${value}`)}`)
  }
  if (bodyText === undefined) return parts.join(' \\\n  ')
  // A terminal interprets pasted control characters even within quotes. Let printf write them instead.
  if (CONTROL.test(bodyText)) return [`${printf(bodyText)} |`, ...parts, '--data-binary @-'].join(' \\\n  ')
  return [...parts, `--data-raw ${quote(bodyText)}`].join(' \\\n  ')
}

const PLAIN = /^[\w/.:@%+=,-]+$/

const quote = (text: string): string => (PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

function printf(text: string): string {
  const format = text
    .replaceAll('\\', '\\\\')
    .replaceAll('%', '%%')
    .replaceAll(new RegExp(CONTROL, 'gu'), (character) =>
      [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join(''),
    )
  return `printf ${quote(format)}`
}

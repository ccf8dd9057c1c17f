import type { DeliveryRecord, RequestRecord } from 'campaign-client/testing'
import { shellWord } from '../../shared/text.ts'

/** The parts of a request that the command contains. */
type CurlRequest = Pick<RequestRecord, 'method' | 'url' | 'headers' | 'bodyText'>

/** Headers that curl sets itself, and headers of the connection. */
const OMITTED_HEADERS =
  /^(?:host|connection|keep-alive|content-length|transfer-encoding|accept-encoding|accept-language|user-agent|expect|sec-.*)$/

const CONTROL = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

/** Returns the request as a command for sh. The command reads the token from the environment. The default token is `dev`. */
export function toCurl({ method, url, headers, bodyText }: CurlRequest): string {
  const parts = ['curl']
  if (method !== 'GET') parts.push(`-X ${shellWord(method)}`)
  parts.push(shellWord(url), `-H "Authorization: Bearer \${CAMPAIGN_ACCESS_TOKEN:-dev}"`)
  for (const [name, value] of Object.entries(headers)) {
    if (!OMITTED_HEADERS.test(name) && !CONTROL.test(value)) parts.push(header(name, value))
  }
  return withBody(parts, bodyText)
}

/** Returns a webhook message with its signature as a command for sh. */
export function deliveryToCurl({ url, body, signature }: Pick<DeliveryRecord, 'url' | 'body' | 'signature'>): string {
  const parts = ['curl', shellWord(url), header('content-type', 'application/json')]
  if (signature !== undefined) parts.push(header('x-service-signature', signature))
  return withBody(parts, body)
}

const header = (name: string, value: string): string => `-H ${shellWord(`${name}: ${value}`)}`

function withBody(parts: readonly string[], body: string | undefined): string {
  if (body === undefined) return parts.join(' \\\n  ')
  // A terminal interprets pasted control characters even within quotes. Let printf write them instead.
  if (CONTROL.test(body)) return [`${printf(body)} |`, ...parts, '--data-binary @-'].join(' \\\n  ')
  return [...parts, `--data-raw ${shellWord(body)}`].join(' \\\n  ')
}

function printf(text: string): string {
  const format = text
    .replaceAll('\\', '\\\\')
    .replaceAll('%', '%%')
    .replaceAll(new RegExp(CONTROL, 'gu'), (character) =>
      [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join(''),
    )
  return `printf ${shellWord(format)}`
}

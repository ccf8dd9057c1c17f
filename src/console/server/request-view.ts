import { type $ZodType, safeParse } from 'zod/v4/core'
import { endpoints } from '../../endpoints/index.ts'
import { isRecord } from '../../shared/type-checks.ts'
import type { RequestAnsweredEvent } from '../../testing/events.ts'
import type { RequestRecord } from '../../testing/http/request-log.ts'
import type { BodyView, RequestRow, RequestView } from '../protocol.ts'
import { toCurl, toTypeScript } from './request-code.ts'

/** The header with the ID of a call that the form of the page sent. */
export const CALL_HEADER = 'x-campaign-client-console'

/** Longer values are cut in rows. */
const MAX_VALUE_LENGTH = 120
const MAX_SEARCHED_LENGTH = 1000
/** The service cuts request bodies at the same size. */
const MAX_RESPONSE_BYTES = 256_000

/** Fields that name the subject of a request. The page shows the first field that is present. */
const USERS = ['account', 'address', 'referral']
const SUBJECTS = [...USERS, 'code', 'url']

/** Returns a request and its response as the page shows them. */
export function requestView({ request, response }: Pick<RequestAnsweredEvent, 'request' | 'response'>): RequestView {
  const { id, at, method, path, operation, status, reason, fault, query, handled } = request
  const { [CALL_HEADER]: call, ...headers } = request.headers
  const { bodyText: text, bodySize: bytes, isBodyCut: isCut } = request
  const values = shortArguments(request)
  const firstOf = (names: readonly string[]) => names.map((name) => values[name]).find((value) => value !== undefined)
  const user = firstOf(USERS)
  const item = firstOf(['id', 'aid'])
  const xp = isRecord(request.body) ? request.body.xp : undefined
  const { referrer, ref_id } = values
  const searched = [method, path, operation, status ?? 'no response', reason, fault, ...Object.values(values)]
  return {
    key: String(id),
    at,
    method,
    path: shorten(path),
    query,
    headers,
    handled,
    subject: firstOf(SUBJECTS) ?? '',
    ...(user !== undefined && { user, ...(values.platform !== undefined && { platform: values.platform }) }),
    ...(referrer !== undefined && { referrer }),
    ...(ref_id !== undefined && { ref_id }),
    ...(item !== undefined && { item }),
    ...(typeof xp === 'number' && { xp }),
    pid: values.pid ?? '',
    text: searched.join(' ').slice(0, MAX_SEARCHED_LENGTH).toLowerCase(),
    ...(operation !== undefined && { operation }),
    ...(status !== undefined && { status }),
    ...(reason !== undefined && { reason: shorten(reason) }),
    ...(fault !== undefined && { fault }),
    ...(text !== undefined && { body: { text, bytes, isCut } }),
    ...(response && { response: { headers: response.headers, body: cutResponse(response.body) } }),
    ...(call !== undefined && { isFromForm: true }),
    ...(!isCut && { curl: toCurl({ ...request, headers }), ...callOf(request) }),
  }
}

/** Returns the part of a request that the list shows. */
export function requestRow(view: RequestView): RequestRow {
  const { query, headers, body, response, curl, typescript, given, ...row } = view
  return row
}

/** Returns the approximate size of a request in memory, in bytes. */
export const requestSize = ({ text, body, response, curl = '', typescript = '' }: RequestView): number =>
  2000 + text.length + curl.length + typescript.length + (body?.text.length ?? 0) + (response?.body.text.length ?? 0)

/** Returns a call with its arguments, as code and for the form. */
function callOf({
  operation,
  method,
  url,
  path,
  query,
  body,
}: RequestRecord): Pick<RequestView, 'typescript' | 'given'> {
  const given =
    method === 'GET' ? Object.fromEntries(Object.entries(query).map(([name, [text]]) => [name, text])) : body
  if (operation === undefined || !isRecord(given)) return {}
  const { success } = safeParse(endpoints[operation].request as $ZodType, given)
  const base = /^.*\/api\/v1\//.exec(url)?.[0] ?? ''
  const call = { operation, given, baseUrl: base.slice(0, -1), path: path.replace('/api/v1/', '') }
  return { given, ...(success && { typescript: toTypeScript(call) }) }
}

/** Returns the arguments of a call, from its query and its body, as short texts. */
function shortArguments({ query, body }: RequestRecord): Readonly<Record<string, string>> {
  const fields = typeof body === 'object' && body !== null ? Object.entries(body) : [['body', body ?? ''] as const]
  const values = [...Object.entries(query).map(([name, texts]) => [name, texts.join(', ')] as const), ...fields]
  return Object.fromEntries(values.map(([name, value]) => [name, shorten(textOf(value))]))
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

function cutResponse(text: string): BodyView {
  const bytes = Buffer.byteLength(text)
  if (bytes <= MAX_RESPONSE_BYTES) return { text, bytes, isCut: false }
  return { text: Buffer.from(text).subarray(0, MAX_RESPONSE_BYTES).toString('utf8'), bytes, isCut: true }
}

/** Cuts a long text for a row. */
export const shorten = (text: string): string =>
  text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text

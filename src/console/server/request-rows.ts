import type { RequestRecord } from 'campaign-client/testing'
import type { RequestRow } from '../protocol.ts'

/** Longer values are cut in rows; the opened item has them whole. */
const MAX_SHOWN = 120
const MAX_SEARCHED = 1000

/** Fields that name the subject of a request, the most telling first. */
const SUBJECTS = ['account', 'address', 'code', 'referral', 'url']

/** A request as a row of the list. */
export function requestRow(record: RequestRecord): RequestRow {
  const { id, at, method, path, operation, status, reason, fault } = record
  const given = argumentsOf(record)
  const subject = SUBJECTS.map((name) => given[name]).find((value) => value !== undefined) ?? ''
  const searched = [method, path, operation, status ?? 'no answer', reason, fault, ...Object.values(given)]
  return {
    key: String(id),
    at,
    method,
    path: shorten(path),
    ...(operation !== undefined && { operation }),
    subject,
    pid: given.pid ?? '',
    ...(status !== undefined && { status }),
    ...(reason !== undefined && { reason: shorten(reason) }),
    ...(fault !== undefined && { fault }),
    text: searched.join(' ').slice(0, MAX_SEARCHED).toLowerCase(),
  }
}

/** The arguments of a call, from its query and its body, as short texts. */
function argumentsOf({ query, body }: RequestRecord): Readonly<Record<string, string>> {
  const fields = typeof body === 'object' && body !== null ? Object.entries(body) : [['body', body ?? ''] as const]
  const given = [...Object.entries(query).map(([name, values]) => [name, values.join(', ')] as const), ...fields]
  return Object.fromEntries(given.map(([name, value]) => [name, shorten(textOf(value))]))
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/** A text for a row, cut where it is long. */
export const shorten = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text)

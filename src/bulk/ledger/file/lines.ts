import { createHash } from 'node:crypto'
import type { AwardRow } from '../../award/row.ts'
import type { AwardFailure, Verdict } from '../../award/verdict.ts'
import { intentText } from '../award-index.ts'
import type { LedgerHeader } from '../header.ts'

/*
 * The format, version 1. Lines of JSON in UTF-8, each ended by \n, in groups that were made durable together:
 *
 *   {"ledger":"campaign-client awards","version":1,"run":"launch","target":{…},"at":"2026-11-21T21:06:00.123Z"}
 *   {"commit":1,"sum":"5f0c…"}
 *   {"intent":"the id","address":"0x…","pid":"demo","xp":250,"at":"…"}
 *   {"commit":1,"sum":"…"}
 *   {"verdict":"awarded","id":"the id","at":"…"}
 *   {"verdict":"rejected","id":"another","at":"…","error":{"code":"bad_request","status":400,"message":"…"}}
 *   {"released":"a third","at":"…"}
 *   {"commit":3,"sum":"…"}
 *
 * A commit counts the lines of its group. Its sum is the first 16 hex digits of the SHA-256 of the sum before it (of
 * nothing for the first) and the bytes of the group's lines: so no group can change, vanish, or change places. The
 * members of a line always come in this order, without white space, so that a million lines can be read without parsing.
 */
export const LEDGER = 'campaign-client awards'
export const VERSION = 1

/** How each kind of line begins. */
const startOf = (member: string, value: string): Buffer => Buffer.from(`{"${member}":${value}`)
export const LEDGER_START = startOf('ledger', `"${LEDGER}"`)
export const VERDICT = startOf('verdict', '"')
export const RELEASED = startOf('released', '"')
export const COMMIT = startOf('commit', '')

/** All times are as long. */
export const TIME_LENGTH = 24

export const headerLine = ({ run, target }: LedgerHeader): string =>
  `${JSON.stringify({ ledger: LEDGER, version: VERSION, run, target: target ?? null, at: timeNow() })}\n`

export const intentLine = (row: AwardRow): string => `${intentText(row)},"at":"${timeNow()}"}\n`

export function verdictLine(id: string, verdict: Verdict, error: AwardFailure | undefined): string {
  const why = error === undefined ? '' : `,"error":${JSON.stringify(error)}`
  return `{"verdict":"${verdict}","id":${JSON.stringify(id)},"at":"${timeNow()}"${why}}\n`
}

export const releasedLine = (id: string): string => `{"released":${JSON.stringify(id)},"at":"${timeNow()}"}\n`

export const commitLine = (lines: number, sum: string): string => `{"commit":${lines},"sum":"${sum}"}\n`

/** The sum of a group that follows one with the sum `before`. */
export const groupSum = (before: string, bytes: Uint8Array): string =>
  createHash('sha256').update(before).update(bytes).digest('hex').slice(0, 16)

/** A clock in another age would need more digits, and lines of another length. */
function timeNow(): string {
  const time = new Date().toISOString()
  return time.length === TIME_LENGTH ? time : '9999-12-31T23:59:59.999Z'
}

import { createHash } from 'node:crypto'
import type { AwardFailure, Verdict } from '../../award/verdict.ts'
import type { LedgerHeader } from '../header.ts'

/*
 * Version 1 of the format: JSON lines in UTF-8. Lines that were flushed together are a group, which ends with a commit:
 *
 *   {"ledger":"campaign-client awards","version":1,"run":"launch","target":{…},"at":"2026-11-21T21:06:00.123Z"}
 *   {"commit":212,"after":"","sum":"5f0c…"}
 *   {"intent":"the id","address":"0x…","pid":"demo","xp":250,"at":"…"}
 *   {"commit":124,"after":"5f0c…","sum":"81aa…"}
 *   {"verdict":"awarded","id":"the id","at":"…"}
 *   {"verdict":"rejected","id":"another","at":"…","error":{"code":"bad_request","status":400,"message":"…"}}
 *   {"released":"a third","at":"…"}
 *   {"commit":221,"after":"81aa…","sum":"…"}
 *
 * A commit has the length of its group's lines in bytes, the sum of the previous group (`after`), and the sum of its own
 * group. A sum is the first 16 hex digits of the SHA-256 of `after` and the lines. It reveals a damaged or missing group.
 */
const LEDGER = 'campaign-client awards'
export const VERSION = 1
export const LEDGER_START = `{"ledger":"${LEDGER}"`
export const COMMIT_START = '{"commit":'
export const COMMIT_LINE = /^\{"commit":(\d{1,10}),"after":"([0-9a-f]{16}|)","sum":"([0-9a-f]{16})"\}\n/
/** An upper bound for the length of a commit. */
export const MAX_COMMIT_BYTES = 128

/** The record of a claim, written before the request is sent. */
export interface IntentLine {
  readonly intent: string
  readonly address: string
  readonly pid: string
  readonly xp: number
  readonly at: string
}

export type EntryLine =
  | IntentLine
  | { readonly verdict: Verdict; readonly id: string; readonly at: string; readonly error?: AwardFailure }
  /** Cancels the last intent of this id: the attempt certainly changed nothing. */
  | { readonly released: string; readonly at: string }

export const lineOf = (line: EntryLine): string => `${JSON.stringify(line)}\n`

/** Returns the first group of a ledger. */
export function headerGroup({ run, target }: LedgerHeader): Buffer {
  const at = new Date().toISOString()
  return groupOf('', [`${JSON.stringify({ ledger: LEDGER, version: VERSION, run, target: target ?? null, at })}\n`])
    .bytes
}

/** Returns a group with its commit. @param after - the sum of the previous group */
export function groupOf(after: string, lines: readonly string[]): { readonly bytes: Buffer; readonly sum: string } {
  const content = Buffer.from(lines.join(''))
  const sum = sumOf(after, content)
  const commit = `${COMMIT_START}${content.length},"after":"${after}","sum":"${sum}"}\n`
  return { bytes: Buffer.concat([content, Buffer.from(commit)]), sum }
}

export const sumOf = (after: string, content: Uint8Array): string =>
  createHash('sha256').update(after).update(content).digest('hex').slice(0, 16)

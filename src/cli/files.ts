import { createReadStream } from 'node:fs'
import { type CommandFailure, usageFailure } from './exit.ts'

/** Far above any message or argument; what is larger is another file than was meant, or one without an end. */
const MAX_BYTES = 64_000_000

/** A file, or what comes by standard input where its name is `-`. */
export async function readInput(name: string): Promise<Uint8Array<ArrayBuffer>> {
  if (name === '-' && process.stdin.isTTY) process.stderr.write('reading from standard input; end it with Ctrl-D\n')
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of name === '-' ? process.stdin : createReadStream(name)) {
      size += chunk.length
      if (size > MAX_BYTES) break
      chunks.push(chunk)
    }
  } catch (error) {
    throw fileFailure(`${inputName(name)} cannot be read`, error)
  }
  if (size > MAX_BYTES) throw usageFailure(`${inputName(name)} is larger than ${MAX_BYTES / 1e6} MB`)
  return new Uint8Array(Buffer.concat(chunks))
}

/** The object of a JSON file. */
export async function readJsonObject(name: string): Promise<Record<string, unknown>> {
  const value = parseInput(name, await readInput(name))
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw usageFailure(`${inputName(name)} must hold a JSON object`)
}

function parseInput(name: string, bytes: Uint8Array): unknown {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw usageFailure(`${inputName(name)} is not text in UTF-8`)
  }
  try {
    return JSON.parse(text, (key, value: unknown) => (key === '__proto__' ? undefined : value))
  } catch {
    // What JSON.parse says quotes the text, and the text may hold a secret.
    throw usageFailure(`${inputName(name)} is not JSON`)
  }
}

export const inputName = (name: string): string => (name === '-' ? 'standard input' : `"${name}"`)

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'no permission',
  EPERM: 'no permission',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is not a folder',
  ENOSPC: 'the disk is full',
  EROFS: 'the disk is read-only',
  ERR_FS_FILE_TOO_LARGE: 'it is too large',
}

/** What the system says about a file, in words. */
export const fileFailure = (what: string, error: unknown): CommandFailure =>
  usageFailure(`${what}: ${isSystemError(error) ? systemWords(error) : 'unknown reason'}`)

/** Whether it comes from the system, as errors of files do. */
export const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && typeof Reflect.get(error, 'code') === 'string' && 'errno' in error

/** What the system says, in words. */
export const systemWords = ({ code = 'unknown reason' }: NodeJS.ErrnoException): string => REASONS[code] ?? code

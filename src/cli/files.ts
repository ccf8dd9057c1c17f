import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { tryParseJson } from '../shared/text/json.ts'
import { isRecord } from '../shared/type-checks.ts'
import { type CommandFailure, usageFailure } from './failure.ts'

/** Messages and arguments are much smaller. A larger input is the wrong file or an endless stream. */
const MAX_BYTES = 64_000_000

/** Reads a file. The name `-` stands for standard input. */
export async function readInput(name: string, maxBytes = MAX_BYTES): Promise<Uint8Array> {
  if (name === '-' && process.stdin.isTTY) process.stderr.write('reading from standard input; end it with Ctrl-D\n')
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of name === '-' ? process.stdin : createReadStream(name)) {
      size += chunk.length
      if (size > maxBytes) break
      chunks.push(chunk)
    }
  } catch (error) {
    throw fileFailure(`${inputName(name)} cannot be read`, error)
  }
  if (size > maxBytes) throw usageFailure(`${inputName(name)} is larger than ${maxBytes / 1e6} MB`)
  return Buffer.concat(chunks)
}

export async function readJsonObject(name: string): Promise<Record<string, unknown>> {
  const bytes = await readInput(name)
  if (!isUtf8(bytes)) throw usageFailure(`${inputName(name)} is not text in UTF-8`)
  const value = tryParseJson(new TextDecoder().decode(bytes))
  if (value === undefined) throw usageFailure(`${inputName(name)} is not JSON`)
  if (!isRecord(value)) throw usageFailure(`${inputName(name)} must contain a JSON object`)
  return value
}

/** Writes a file completely or not at all. @throws Error of the file system */
export async function replaceFile(path: string, content: string): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}`)
  try {
    await writeFile(temporary, content, { flag: 'wx' })
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined)
    throw error
  }
}

/** Formats the name of a file for messages. */
export const inputName = (name: string): string => (name === '-' ? 'standard input' : `"${name}"`)

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of its path is not a directory',
  ENOSPC: 'the disk is full',
  EROFS: 'the disk is read-only',
  EFBIG: 'it is too large',
}

/** The failure for a file that cannot be read or written. */
export const fileFailure = (message: string, error: unknown): CommandFailure =>
  usageFailure(`${message}: ${systemReason(error as NodeJS.ErrnoException)}`)

/** Returns whether an error comes from a system call. */
export const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && typeof Reflect.get(error, 'code') === 'string' && 'errno' in error

export const systemReason = ({ code = 'unknown reason' }: NodeJS.ErrnoException): string => REASONS[code] ?? code

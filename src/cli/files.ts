import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { access, constants, lstat, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { tryParseJson } from '../shared/text.ts'
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

/**
 * Checks that a file can be written later with {@link replaceFile}.
 *
 * @param flag - the flag that names the file, for messages
 * @param inputs - files that the command reads; the file must not replace one of them
 * @throws CommandFailure when the file cannot be written, or is a link, a device or one of the inputs
 */
export async function checkOutputFile(flag: string, path: string, inputs: readonly string[]): Promise<void> {
  const name = `${flag} "${path}"`
  for (const input of inputs) {
    if (await isSameFile(input, path)) throw usageFailure(`${name} would replace a file that the command uses`)
  }
  const existing = await lstat(path).catch(() => undefined)
  if (existing !== undefined && !existing.isFile()) throw usageFailure(`${name} is not a regular file`)
  await access(dirname(resolve(path)), constants.W_OK).catch((error: unknown) => {
    throw outputFailure(flag, path, error)
  })
}

/** The failure for a file that cannot be written. */
export function outputFailure(flag: string, path: string, error: unknown): CommandFailure {
  return usageFailure(`${flag} "${path}" cannot be written: ${reasonOf(error, path)}`)
}

function reasonOf(error: unknown, path: string): string {
  if (!isSystemError(error)) return (error as Error).message
  return error.code === 'ENOENT' ? `there is no folder "${dirname(path)}"` : systemReason(error)
}

/** Returns whether two paths name the same file. Resolves links. The file need not exist. */
async function isSameFile(one: string, other: string): Promise<boolean> {
  if ((await realPath(one)) === (await realPath(other))) return true
  const [first, second] = await Promise.all([one, other].map((path) => stat(path, { bigint: true }).catch(() => null)))
  return !!first && !!second && first.dev === second.dev && first.ino === second.ino
}

async function realPath(path: string): Promise<string> {
  const folder = dirname(resolve(path))
  return join(await realpath(folder).catch(() => folder), basename(path))
}

/** Writes a file completely or not at all. @param content - in parts. @throws Error of the file system */
export async function replaceFile(path: string, content: string | Iterable<string>): Promise<void> {
  const temporary = join(dirname(path), `.campaign-client-${crypto.randomUUID()}`)
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
  EEXIST: 'there is a file with this name',
  ENOTDIR: 'a part of its path is not a directory',
  ENOSPC: 'the disk is full',
  EROFS: 'the disk is read-only',
  EFBIG: 'it is too large',
}

/** The failure for a file that cannot be read. */
export const fileFailure = (message: string, error: unknown): CommandFailure =>
  usageFailure(`${message}: ${systemReason(error as NodeJS.ErrnoException)}`)

/** Returns whether an error comes from a system call. */
export const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && typeof Reflect.get(error, 'code') === 'string' && 'errno' in error

export const systemReason = ({ code = 'unknown reason' }: NodeJS.ErrnoException): string => REASONS[code] ?? code

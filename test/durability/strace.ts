import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { findProgram } from '../support/server-process.ts'
import { skipsOnThisNode, skipsWithout } from '../support/skips-without.ts'

/** A syscall of the program, as strace prints it. */
export interface Syscall {
  readonly name: string
  /** The number of the descriptor. */
  readonly descriptor: number | undefined
  /** The file; for a descriptor of a socket, its name in strace, such as `TCP:[…]`. */
  readonly path: string
  /** The bytes to write. */
  readonly data: Buffer
  /** The numbers after the bytes: for `pwrite64`, the last one is the offset. */
  readonly numbers: readonly number[]
  /** -1 if the syscall failed; otherwise, a write returns the number of bytes. */
  readonly result: number
}

const SYSCALLS = 'openat,pwrite64,ftruncate,fsync,fdatasync,?unlink,unlinkat,write,writev,sendto,sendmsg'

/**
 * Returns a command that runs the command after it, and writes its syscalls to `file`. It traces only the main thread, where
 * Node.js calls SQLite and writes to sockets and pipes: so each syscall ends before the next one begins.
 *
 * `-D` keeps the program a child of this process, and its pid. `-xx` prints bytes as hex, `-yy` the files of descriptors.
 */
export const straceTo = (file: string): string[] => [
  findProgram('strace') ?? 'strace',
  ...['-D', '-xx', '-yy', '-s', '1000000', '-e', 'signal=none', '-e', `trace=${SYSCALLS}`, '-o', file, '--'],
]

export const isSync = (name: string): boolean => name === 'fsync' || name === 'fdatasync'

/** Returns whether tests are skipped because this machine lacks strace or forbids it, and prints the reason. */
export function skipsWithoutStrace(): boolean {
  const missing = findProgram('strace') === undefined ? 'strace is not installed' : undefined
  if (missing !== undefined) return skipsWithout('strace', missing)
  try {
    const [strace = '', ...args] = straceTo('/dev/null')
    execFileSync(strace, [...args, process.execPath, '--version'], { stdio: 'ignore' })
    return false
  } catch {
    return skipsOnThisNode('strace', 'this machine does not allow it')
  }
}

/** Reads the file of {@link straceTo}. */
export function readSyscalls(file: string): Syscall[] {
  return readFileSync(file, 'latin1').split('\n').flatMap(readSyscall)
}

/** For example `pwrite64(22</tmp/a.ledger-wal>, "\x37\x7f", 2, 32) = 2`, with the path in hex, too. */
function readSyscall(line: string): Syscall[] {
  const [, name, args, result] = /^(\w+)\((.*)\)\s+= (-?\d+)/.exec(line) ?? []
  if (name === undefined || args === undefined) return []
  const strings = [...args.matchAll(/"([^"]*)"/g)].map(([, hex = '']) => decoded(hex))
  const opensPath = /^(?:openat|unlink|unlinkat)$/.test(name)
  const [, descriptor, target = ''] = /^(\d+)<([^>]*(?:->[^>]*)?)>/.exec(args) ?? []
  return [
    {
      name,
      descriptor: descriptor === undefined ? undefined : Number(descriptor),
      path: opensPath ? String(strings[0]) : target.startsWith('\\x') ? String(decoded(target)) : target,
      data: Buffer.concat(strings),
      numbers: [...(/(?:, \d+)*$/.exec(args)?.[0] ?? '').matchAll(/\d+/g)].map(Number),
      result: Number(result),
    },
  ]
}

const decoded = (hex: string): Buffer => Buffer.from(hex.replaceAll('\\x', ''), 'hex')

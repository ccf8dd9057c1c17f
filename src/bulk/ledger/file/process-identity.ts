import { readFile, readlink } from 'node:fs/promises'
import { hostname } from 'node:os'

/** A process, told from every other one there has been. Process ids repeat: after a while, and in every container. */
export interface ProcessIdentity {
  readonly host: string
  readonly pid: number
  /** The boot of the machine, and what its processes are numbered in. Null where the system shows neither. */
  readonly boot: string | null
  readonly namespace: string | null
  /** When the process started, in ticks since the boot. */
  readonly started: string | null
}

/** Whether a process still runs: `unknown` where it can't be seen from here. */
export type Liveness = 'alive' | 'gone' | 'unknown'

export async function thisProcess(): Promise<ProcessIdentity> {
  const [boot, namespace, status] = await Promise.all([
    readFile('/proc/sys/kernel/random/boot_id', 'utf8').then((text) => text.trim(), absent),
    readlink('/proc/self/ns/pid').catch(absent),
    processStatus(process.pid),
  ])
  return { host: hostname(), pid: process.pid, boot, namespace, started: status?.started ?? null }
}

/** Whether `other` still runs, as far as this process can see. */
export async function livenessOf(other: ProcessIdentity): Promise<Liveness> {
  const own = await thisProcess()
  if (own.boot === null || own.namespace === null || own.started === null) return livenessByNumber(own, other)
  // Another machine, or a container that sees other processes than we do.
  if (own.boot !== other.boot || own.namespace !== other.namespace) return 'unknown'
  const status = await processStatus(other.pid)
  return status === null || status.started !== other.started || status.ended ? 'gone' : 'alive'
}

/** Systems without /proc: a number that nobody has is proof, one that somebody has is none. */
function livenessByNumber(own: ProcessIdentity, other: ProcessIdentity): Liveness {
  if (own.host !== other.host || other.boot !== null) return 'unknown'
  if (other.pid === own.pid) return 'unknown'
  try {
    process.kill(other.pid, 0)
    return 'unknown'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH' ? 'gone' : 'unknown'
  }
}

interface ProcessStatus {
  readonly started: string
  /** It has ended, and its parent has not looked yet. */
  readonly ended: boolean
}

async function processStatus(pid: number): Promise<ProcessStatus | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(absent)
  if (text === null) return null
  // The name, in brackets, may hold anything: what counts stands behind the last one.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const started = fields[19]
  return started === undefined ? null : { started, ended: fields[0] === 'Z' || fields[0] === 'X' }
}

const absent = (): null => null

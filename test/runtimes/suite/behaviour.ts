import type { WebhookReceiver } from 'campaign-client'

/** What the runtime around the suite gives it. What is optional, some runtimes cannot give. */
export interface Environment {
  /** A service that waits on loopback, with the faults of loopback-service.ts. */
  readonly serviceUrl: string
  /** An address on loopback where nothing listens. */
  readonly closedUrl: string
  /** The package as `require` gives it. */
  readonly commonJs?: {
    readonly root: typeof import('campaign-client')
    readonly webhook: typeof import('campaign-client/webhook')
  }
  /** Puts a receiver behind node:http. */
  readonly serveNode?: (receiver: WebhookReceiver) => Promise<Served>
  /** Puts a receiver behind the runtime's own server of Requests and Responses. */
  readonly serveFetch?: (receiver: WebhookReceiver) => Promise<Served>
}

/** The parts of an environment that not every runtime has. */
export type Capability = 'commonJs' | 'serveNode' | 'serveFetch'

/** A receiver that can be reached. */
export interface Served {
  send(init: RequestInit): Promise<Response>
  close(): Promise<void>
}

/** One thing the package does, the same on every runtime. */
export interface Behaviour {
  readonly name: string
  /** Throws, or rejects, when the package does something else. */
  run(environment: Environment): unknown
}

/** What became of one behaviour. */
export interface Outcome {
  readonly name: string
  readonly ok: boolean
  readonly error?: string
  /** The part of the environment it needs and this runtime lacks: it was not run. */
  readonly lacks?: Capability
}

class Lacking extends Error {
  readonly capability: Capability

  constructor(capability: Capability) {
    super(`this runtime has no ${capability}`)
    this.capability = capability
  }
}

/** A part of the environment, or the end of the behaviour as one that this runtime cannot show. */
export function need<Name extends Capability>(environment: Environment, name: Name): NonNullable<Environment[Name]> {
  const value = environment[name]
  if (!value) throw new Lacking(name)
  return value
}

/** Far above what any of them takes, so that one that never ends is named instead of stopping the run. */
const LIMIT_MS = 20_000

export async function tryBehaviour({ name, run }: Behaviour, environment: Environment): Promise<Outcome> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`did not end within ${LIMIT_MS / 1000} s`)), LIMIT_MS)
  })
  try {
    await Promise.race([(async () => run(environment))(), limit])
    return { name, ok: true }
  } catch (error) {
    if (error instanceof Lacking) return { name, ok: true, lacks: error.capability }
    return { name, ok: false, error: error instanceof Error ? (error.stack ?? String(error)) : String(error) }
  } finally {
    clearTimeout(timer)
  }
}

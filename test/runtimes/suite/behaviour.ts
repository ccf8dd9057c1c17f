import type { WebhookReceiver } from 'campaign-client'

/** The environment of the suite. Some runtimes lack the optional parts. */
export interface Environment {
  /** The loopback service of loopback-service.ts. */
  readonly serviceUrl: string
  /** A loopback URL on which no server listens. */
  readonly closedUrl: string
  /** The package loaded by `require`. */
  readonly commonJs?: {
    readonly root: typeof import('campaign-client')
    readonly webhook: typeof import('campaign-client/webhook')
  }
  /** The loopback service for calls over `nodeTransport`. */
  readonly nodeServiceUrl?: string
  /** A loopback service without faults. */
  readonly commandServiceUrl?: string
  /** Runs the command in a child process. */
  readonly runCommand?: (
    args: readonly string[],
    cwd: string,
    env: Readonly<Record<string, string>>,
  ) => Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>
  /** Serves a receiver with node:http. */
  readonly serveNode?: (receiver: WebhookReceiver) => Promise<Served>
  /** Serves a receiver with the runtime's own server. */
  readonly serveFetch?: (receiver: WebhookReceiver) => Promise<Served>
}

/** The parts of the environment that some runtimes lack. */
export type Capability = Exclude<keyof Environment, 'serviceUrl' | 'closedUrl'>

/** A served receiver. */
export interface Served {
  send(init: RequestInit): Promise<Response>
  close(): Promise<void>
}

/** A behaviour of the package that is the same on every runtime. */
export interface Behaviour {
  readonly name: string
  /** Throws or rejects if the package behaves differently. */
  run(environment: Environment): unknown
}

/** The result of one behaviour. */
export interface Outcome {
  readonly name: string
  readonly ok: boolean
  readonly error?: string
  /** The missing part of the environment, if the behaviour was skipped. */
  readonly lacks?: Capability
}

class MissingCapability extends Error {
  readonly capability: Capability

  constructor(capability: Capability) {
    super(`this runtime has no ${capability}`)
    this.capability = capability
  }
}

/** Returns a part of the environment. Throws if the runtime lacks it, so that the behaviour is skipped. */
export function need<Name extends Capability>(environment: Environment, name: Name): NonNullable<Environment[Name]> {
  const value = environment[name]
  if (!value) throw new MissingCapability(name)
  return value
}

/** Much longer than any behaviour takes. Without a limit, a behaviour that hangs would block the run. */
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
    if (error instanceof MissingCapability) return { name, ok: true, lacks: error.capability }
    return { name, ok: false, error: error instanceof Error ? (error.stack ?? String(error)) : String(error) }
  } finally {
    clearTimeout(timer)
  }
}

import { createWebhookReceiver, type DeliveryStore, memoryStore, type WebhookReceiver } from 'campaign-client/webhook'
import { afterEach, expect, test, vi } from 'vitest'
import { FULL_SIZE } from '../../support/full-size.ts'
import { deliveryOf, SECRET } from '../signed-message.ts'
import { VirtualClock } from './virtual-clock.ts'

const MESSAGES = FULL_SIZE ? 20_000 : 4_000
const PROCESSES = 8
/** The waits between the five attempts of the service. */
const RETRY_MS = [5000, 30_000, 60_000, 300_000]
/** LEASE_MS and MAX_RUN_MS have the highest allowed sum: every claim ends 5 s before the last attempt. */
const LEASE_MS = 30_000
const MAX_RUN_MS = 265_000

const never = new Promise<never>(() => {})

/** The mulberry32 generator. A fixed seed gives the same faults in every run. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A process. After a crash it does no work, and its senders get no response. */
interface SimulatedProcess {
  hasCrashed: boolean
  onCrash: (() => void)[]
  receiver: WebhookReceiver
}

interface Record {
  attempts: number
  successes: number
  /** Handler runs that have not ended. */
  runs: { owner: SimulatedProcess; signal: AbortSignal }[]
  /** Whether a crash, an outage or an ignored signal affected the message. Only then may it succeed twice. */
  disturbed: boolean
  answered200: boolean
}

afterEach(() => {
  vi.unstubAllGlobals()
})

test(`none of ${MESSAGES} messages is lost or handled twice at once, despite crashes, outages and failing handlers`, async () => {
  const clock = new VirtualClock()
  clock.install()
  const chance = random(20_261_121)
  const between = (from: number, to: number): number => from + chance() * (to - from)
  const server = memoryStore({ now: () => clock.now })
  const records = new Map<string, Record>()
  const counts = {
    crashes: 0,
    storeFaults: 0,
    thrown: 0,
    aborted: 0,
    takeovers: 0,
    duplicates: 0,
    busy: 0,
    pastDeadline: 0,
    lastAttempts: 0,
  }
  const violations: string[] = []

  function recordOf(key: string): Record {
    const id = (JSON.parse(key) as [string, string])[1]
    return records.get(id) as Record
  }

  function loseReply(key: string): Promise<never> {
    recordOf(key).disturbed = true
    return never
  }

  /** The store behind a slow network that sometimes fails. */
  function storeFor(owner: () => SimulatedProcess, faulty: boolean): DeliveryStore {
    async function call<T>(key: string, apply: () => Promise<T>): Promise<T> {
      const fault = faulty ? chance() : 1
      if (fault < 0.02) {
        counts.storeFaults += 1
        recordOf(key).disturbed = true
        if (fault < 0.005) return never
        if (fault < 0.01) await apply()
        throw new Error('connection lost')
      }
      await clock.sleep(between(0, 20))
      if (owner().hasCrashed) return loseReply(key)
      const answer = await apply()
      await clock.sleep(between(0, 20))
      return owner().hasCrashed ? loseReply(key) : answer
    }
    return {
      claim: (key, leaseMs) => call(key, () => server.claim(key, leaseMs)),
      extend: (key, token, leaseMs) => call(key, () => server.extend(key, token, leaseMs)),
      complete: (key, token, retainMs) => call(key, () => server.complete(key, token, retainMs)),
      release: (key, token) => call(key, () => server.release(key, token)),
    }
  }

  function start({ faulty }: { faulty: boolean }): SimulatedProcess {
    const owner: SimulatedProcess = { hasCrashed: false, onCrash: [], receiver: undefined as never }
    owner.receiver = createWebhookReceiver({
      endpoint: 'simulation',
      secret: SECRET,
      store: storeFor(() => owner, faulty),
      leaseMs: LEASE_MS,
      maxRunMs: MAX_RUN_MS,
      onReject: ({ reason }) => {
        if (reason === 'busy') counts.busy += 1
        if (reason === 'past_deadline') counts.pastDeadline += 1
      },
      onError: () => {},
      async handle({ id }, { signal }) {
        const record = records.get(id) as Record
        if (record.runs.some((run) => !run.owner.hasCrashed && !run.signal.aborted))
          violations.push(`${id} at ${clock.now}`)
        if (record.runs.length > 0) counts.takeovers += 1
        const run = { owner, signal }
        record.runs.push(run)
        try {
          const draw = faulty ? chance() : 1
          // Most runs are quick. Some exceed the deadline and several leases. A few exceed maxRunMs, most of them at the
          // fourth attempt, because a claim that ends too late would block the last attempt.
          const endless = draw < (record.attempts === 4 ? 0.4 : 0.02)
          const ignoresSignal = endless && chance() < 0.5
          const duration = endless ? between(200_000, 400_000) : draw < 0.5 ? between(0, 20_000) : between(0, 800)
          const aborted = new Promise<never>((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason), { once: true })
          })
          aborted.catch(() => {})
          await (ignoresSignal ? clock.sleep(duration) : Promise.race([clock.sleep(duration), aborted]))
          if (signal.aborted) record.disturbed = true
          if (owner.hasCrashed) return never
          if (draw > 0.5 && draw < 0.65) {
            counts.thrown += 1
            throw new Error('handler')
          }
          record.successes += 1
        } catch (error) {
          if (owner.hasCrashed) return never
          if (signal.aborted) counts.aborted += 1
          throw error
        } finally {
          if (!owner.hasCrashed) record.runs.splice(record.runs.indexOf(run), 1)
        }
      },
    })
    return owner
  }

  // The last attempt of a message goes to a process without faults, so it must succeed.
  const stable = start({ faulty: false })
  const processes = Array.from({ length: PROCESSES }, () => start({ faulty: true }))
  let remaining = MESSAGES

  async function crashRandomly(index: number): Promise<void> {
    while (remaining > 0) {
      await clock.sleep(between(1000, 600_000))
      const owner = processes[index] as SimulatedProcess
      owner.hasCrashed = true
      counts.crashes += 1
      for (const disconnect of owner.onCrash) disconnect()
      processes[index] = start({ faulty: true })
    }
  }

  /** Returns the status, or 0 when the connection is lost. */
  async function attempt(message: { id: string }, last: boolean): Promise<number> {
    const owner = last ? stable : (processes[Math.floor(chance() * PROCESSES)] as SimulatedProcess)
    const record = records.get(message.id) as Record
    let inFlight = true
    let disconnect = (): void => {}
    const lost = new Promise<number>((resolve) => {
      disconnect = () => resolve(0)
    })
    owner.onCrash.push(() => {
      // After a response at the deadline, the handler may still run.
      if (inFlight || record.runs.some((run) => run.owner === owner)) record.disturbed = true
      disconnect()
    })
    const answered = owner.receiver.fetch(deliveryOf(message)).then(async (response) => {
      if (response.status === 200 && (await response.text()).includes('duplicate')) counts.duplicates += 1
      return response.status
    })
    return Promise.race([answered, lost]).finally(() => {
      inFlight = false
    })
  }

  async function send(id: string): Promise<void> {
    await clock.sleep(between(0, 4 * 3_600_000))
    const record: Record = { attempts: 0, successes: 0, runs: [], disturbed: false, answered200: false }
    records.set(id, record)
    for (const pause of [...RETRY_MS, undefined]) {
      const sentAt = clock.now
      record.attempts += 1
      const last = pause === undefined
      if (last) counts.lastAttempts += 1
      const copies = chance() < 0.05 ? 2 : 1
      const statuses = await Promise.all(Array.from({ length: copies }, () => attempt({ id }, last)))
      if (statuses.includes(200)) {
        record.answered200 = true
        break
      }
      // The shortest possible schedule: a wait starts when the attempt is sent, not when it ends.
      if (pause !== undefined) await clock.sleep(sentAt + pause - clock.now)
    }
    remaining -= 1
  }

  for (let index = 0; index < PROCESSES; index++) void crashRandomly(index)
  for (let n = 0; n < MESSAGES; n++) void send(`m-${n}`)
  await clock.run()

  const all = [...records]
  expect(violations).toEqual([])
  expect(all).toHaveLength(MESSAGES)
  expect(all.filter(([, record]) => !record.answered200)).toEqual([])
  expect(all.filter(([, record]) => record.successes === 0)).toEqual([])
  expect(all.filter(([, record]) => record.successes > 1 && !record.disturbed)).toEqual([])
  // The simulation must contain every kind of fault.
  expect(counts.crashes).toBeGreaterThan(300)
  for (const [name, count] of Object.entries(counts)) expect(count, name).toBeGreaterThan(FULL_SIZE ? 20 : 10)
})

import {
  createWebhookReceiver,
  type DeliveryStore,
  DiscardEvent,
  memoryStore,
  type WebhookEvent,
  type WebhookHandlerContext,
  type WebhookReceiver,
} from 'campaign-client/webhook'
import { type SqliteDatabase, type SqliteStore, sqliteStore } from 'campaign-client/webhook/sqlite'
import type { AwardJobs } from './awards.ts'
import type { Scene } from './partners.ts'
import { newMessage, sign } from './service.ts'
import type { Process, World } from './world.ts'

/** The waits between the five attempts of the service. */
const RETRY_MS = [5_000, 30_000, 60_000, 300_000]
/** The longest lease. */
const MAX_LEASE_MS = 295_000
const FILE = 'deliveries.db'
const TABLE = 'CREATE TABLE IF NOT EXISTS effects (id TEXT)'

/** What the world knows of a message. */
interface Message {
  readonly id: string
  readonly text: string
  /** The handlers that have not ended. */
  readonly handlers: { readonly owner: Process; readonly signal: AbortSignal; readonly startedAt: number }[]
  /** Whether a handler was called with it. */
  wasClaimed: boolean
  wasReplayed: boolean
  /** How often a handler was done with it. */
  handled: number
  wasDiscarded: boolean
  wasAccepted: boolean
  /** Whether `runOnce` has returned for it. */
  ranOnce: boolean
}

interface Running {
  readonly owner: Process
  readonly receiver: WebhookReceiver
  readonly store: SqliteStore<SqliteDatabase> | undefined
}

/** The service's deliveries, and the receivers of a partner with their store. */
export class Events {
  readonly scene: Scene
  readonly world: World
  readonly #messages = new Map<string, Message>()
  readonly #file: string | undefined
  /** A store in another process, as Redis is. */
  readonly #server: DeliveryStore
  readonly #secret: string
  readonly #leaseMs: number
  readonly #maxRunMs: number
  readonly #receivers: Promise<Running>[] = []
  /** Attempts that arrive twice. */
  readonly #copies: Promise<number>[] = []
  readonly #handlerFails: number
  readonly #keepsFailed: boolean
  readonly #isSlow: boolean
  /** What handlers award for each message. */
  readonly #bonuses: AwardJobs | undefined
  #starts = 0

  constructor(scene: Scene, bonuses?: AwardJobs) {
    const { world } = scene
    const { random } = world
    this.scene = scene
    this.world = world
    this.#bonuses = bonuses
    this.#secret = `whsec${random.uuid()}`
    world.secrets.push(this.#secret)
    this.#file = random.chance(0.5) ? scene.disk.path(FILE) : undefined
    this.#server = memoryStore({ now: () => world.now })
    this.#leaseMs = random.pick([1_000, 30_000])
    this.#maxRunMs = random.pick([10_000, 240_000, 295_000 - this.#leaseMs])
    this.#handlerFails = random.pick([0, 0.1, 0.5, 1])
    this.#isSlow = random.chance(0.2)
    this.#keepsFailed = this.#file !== undefined && random.chance(0.6)
  }

  /** Sends messages until the calm and waits for their last attempts. @param isDone - whether no more messages will come */
  async deliver(isDone: () => boolean): Promise<void> {
    const { world, scene } = this
    const { random } = world
    const { messages } = scene.state
    for (let n = random.int(1, 3); n > 0; n--) this.#receivers.push(this.#start())
    const count = random.int(1, 12)
    for (let n = 1; n <= count; n++) {
      world.after(random.duration(100, scene.calmAt * 1.2), () => messages.push(newMessage(`message-${n}`)))
    }
    const operations = [this.#restart(), this.#replayAtTimes()]
    const sent: Promise<void>[] = []
    let taken = 0
    while (taken < messages.length || taken < count || !isDone()) {
      while (taken < messages.length) {
        sent.push(this.#send(this.#message(messages[taken++] as (typeof messages)[number])))
      }
      await world.sleep(1_000)
    }
    await Promise.all([...sent, ...operations])
    // The leases of processes that died end, and a clock that was set back reaches the times of before.
    await world.sleep(2 * MAX_LEASE_MS + world.setBackMs)
    await Promise.all(this.#copies)
    await this.#replayAll()
    await this.#close()
    this.check()
  }

  /** Delivers one message to a receiver that dies at a point, and to the ones after it. @returns the number of crashes */
  async deliverOne(diesAt: number): Promise<number> {
    this.#receivers.push(this.#start(diesAt))
    const message = this.#message(newMessage('message'))
    await this.#send(message)
    const { crashes } = this.world
    await this.#close()
    this.check()
    this.world.require(message.wasAccepted, () => 'the message is undelivered')
    return crashes
  }

  #message({ id, text }: { id: string; text: string }): Message {
    const message = {
      id,
      text,
      handlers: [],
      wasClaimed: false,
      wasReplayed: false,
      handled: 0,
      wasDiscarded: false,
      wasAccepted: false,
      ranOnce: false,
    }
    this.#messages.set(id, message)
    return message
  }

  /** Makes the attempts at a message, as the API description says. */
  async #send(message: Message): Promise<void> {
    const { world, scene } = this
    const { random } = world
    for (const waitMs of [...RETRY_MS, undefined]) {
      // The receivers have been replaced after the last fault.
      const wasCalm = scene.isCalm && world.now > scene.calmAt + 60_000
      // At times the service sends an attempt twice.
      const copies = !scene.isCalm && random.chance(0.05) ? 2 : 1
      const startedAt = world.now
      if (!scene.isCalm && random.chance(0.2)) {
        // A copy of the attempt that a proxy has held.
        world.after(random.duration(100, 60_000), () => void this.#copies.push(this.#attempt(message)))
      }
      const statuses = await Promise.all(Array.from({ length: copies }, () => this.#attempt(message)))
      world.say(`the service gets ${statuses.join(' and ')} for ${message.id}`)
      if (statuses.includes(200)) {
        message.wasAccepted = true
        world.require(
          message.handled > 0 || message.wasDiscarded,
          () => `${message.id} was accepted, and no handler was done with it`,
        )
        return
      }
      if (waitMs === undefined) {
        // Every claim has ended before the last attempt: by a clock that was not set back, and without a replay.
        const isMet = message.wasReplayed || (this.#file !== undefined && world.setBackMs > 0)
        world.require(
          !wasCalm || isMet,
          () => `the last attempt at ${message.id} failed, although nothing fails any more`,
        )
        world.say(`${message.id} is undelivered`)
        return
      }
      // The shortest schedule: the wait begins when the attempt begins.
      await world.sleep(startedAt + waitMs - world.now)
    }
  }

  /** Returns the status of an attempt, or 0 if it got no response. */
  async #attempt({ id, text }: Message): Promise<number> {
    const { world, scene } = this
    const { random } = world
    const index = random.int(0, this.#receivers.length - 1)
    const { owner, receiver } = await (this.#receivers[index] as Promise<Running>)
    world.messages++
    await world.sleep(random.duration(1, 1_000))
    if (!owner.isAlive) {
      // A supervisor starts it again.
      if ((await this.#receivers[index])?.owner === owner) this.#receivers[index] = this.#start()
      return 0
    }
    if (!scene.isCalm && random.chance(0.05)) return 0
    const isForged = !scene.isCalm && random.chance(0.03)
    const headers = { 'x-service-signature': sign(isForged ? 'another secret' : this.#secret, text) }
    const ended = await Promise.race([
      owner.run(() =>
        receiver.fetch(new Request('https://partner.example/hook', { method: 'POST', headers, body: text })),
      ),
      // The service does not wait for ever.
      world.sleep(60_000).then(() => ({ how: 'died' }) as const),
    ])
    if (ended.how === 'threw') throw ended.error
    if (ended.how === 'died') return 0
    const { status } = ended.value
    world.require(status !== 200 || !isForged, () => `a forged copy of ${id} was accepted`)
    if (!scene.isCalm && random.chance(0.05)) return 0
    return status
  }

  /** Replaces receivers until the calm: at times they are closed before, at times killed. */
  async #restart(): Promise<void> {
    const { world, scene } = this
    const { random } = world
    const count = this.#receivers.length
    while (!scene.isCalm) {
      await world.sleep(Math.max(1_000, Math.min(random.duration(1_000, 3_600_000), scene.calmAt - world.now)))
      await this.#replace(random.int(0, count - 1), random.chance(0.5))
    }
    for (let index = 0; index < count; index++) await this.#replace(index, false)
  }

  /** Replays failed messages at times, also beside an attempt of the service. */
  async #replayAtTimes(): Promise<void> {
    const { world, scene } = this
    const { random } = world
    while (this.#keepsFailed && !scene.isCalm) {
      await world.sleep(Math.max(1_000, Math.min(random.duration(1_000, 3_600_000), scene.calmAt - world.now)))
      await this.#replay(random.pick([0, 60_000, undefined]), true)
    }
  }

  /** Replays what is left once nothing fails: every message that was ever claimed is then done. */
  async #replayAll(): Promise<void> {
    if (!this.#keepsFailed) return
    await this.#replay(0, false)
    const effects = this.#effects()
    for (const { id, wasClaimed, handled, wasDiscarded } of this.#messages.values()) {
      // A process may die after runOnce has committed, before its handler returns.
      const isDone = handled > 0 || wasDiscarded || effects.has(id)
      this.world.require(!wasClaimed || isDone, () => `${id} was claimed, and is lost`)
    }
  }

  async #replay(olderThanMs: number | undefined, mayFail: boolean): Promise<void> {
    const { world } = this
    const { owner, receiver } = await world.random.pick(this.#receivers)
    const ended = await owner.run(async () => {
      for await (const { key, id } of receiver.failed(olderThanMs === undefined ? {} : { olderThanMs })) {
        const message = this.#messages.get(id) as Message
        message.wasReplayed = true
        world.say(`${owner.name} replays ${id}: ${await receiver.replay(key)}`)
      }
    })
    // A receiver that is closed meanwhile, or a store that is down.
    if (ended.how === 'threw') world.require(mayFail, () => `a replay failed: ${String(ended.error)}`)
  }

  async #replace(index: number, isClosed: boolean): Promise<void> {
    const { owner, receiver, store } = await (this.#receivers[index] as Promise<Running>)
    // A deployment starts the new process first.
    this.#receivers[index] = this.#start()
    if (isClosed) {
      await owner.run(async () => {
        await receiver.close({ timeoutMs: this.world.random.duration(1, 10_000) })
        store?.close()
      })
    }
    owner.die()
  }

  async #start(diesAt?: number): Promise<Running> {
    const { world, scene } = this
    const owner = scene.start(`receiver ${++this.#starts}`)
    owner.diesAt = diesAt ?? owner.diesAt
    const ended = await owner.run(async () => {
      const store = this.#file === undefined ? undefined : sqliteStore(this.#file)
      const receiver = createWebhookReceiver({
        endpoint: 'simulation',
        secret: this.#secret,
        store: store ?? this.#overNetwork(owner),
        leaseMs: this.#leaseMs,
        maxRunMs: this.#maxRunMs,
        keepFailed: this.#keepsFailed,
        onReject: (rejection) => scene.requireNoSecret(rejection, 'a rejection'),
        onError: (error) => scene.requireNoSecret(error, 'an error of a receiver'),
        handle: (event, context) => this.#handle(event, context, owner, store),
      })
      return { owner, receiver, store }
    })
    if (ended.how === 'returned') return ended.value
    if (ended.how === 'threw') throw ended.error
    await world.sleep(1_000)
    return this.#start()
  }

  async #handle(
    event: WebhookEvent,
    context: WebhookHandlerContext,
    owner: Process,
    store: SqliteStore<SqliteDatabase> | undefined,
  ): Promise<void> {
    const { world, scene } = this
    const { random } = world
    const message = this.#messages.get(event.id) as Message
    message.wasClaimed = true
    const ignoresSignal = !scene.isCalm && random.chance(0.1)
    const { signal } = context
    const isLive = (handler: Message['handlers'][number]) => {
      // sqliteStore uses the clock of the machine: a lease ends early if it is set forward.
      const mayHaveEnded =
        (this.#file !== undefined && handler.startedAt <= world.clockSetAt) ||
        // It notices the end of its lease when it continues.
        handler.startedAt <= handler.owner.stoppedUntil
      return handler.owner.isAlive && !handler.signal.aborted && !mayHaveEnded
    }
    world.require(!message.handlers.some(isLive), () => `${event.id} has two live handlers`)
    const run = { owner, signal, startedAt: world.now }
    message.handlers.push(run)
    world.say(`${owner.name} handles ${event.id}`)
    try {
      const isEndless = !scene.isCalm && random.chance(this.#isSlow ? 0.5 : 0.05)
      const durationMs = isEndless ? random.duration(60_000, 600_000) : random.duration(1, scene.isCalm ? 500 : 30_000)
      const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      const pause = new Promise<void>((resolve) => world.after(durationMs, resolve, owner))
      await (ignoresSignal ? pause : Promise.race([pause, aborted]))
      if (signal.aborted && !ignoresSignal) {
        // It stops before its work is done. Some handlers return, some throw.
        if (random.chance(0.5)) return
        throw signal.reason
      }
      if (!scene.isCalm && random.chance(this.#handlerFails)) throw new Error('the handler has a bug')
      if (random.chance(0.05)) {
        message.wasDiscarded = true
        throw new DiscardEvent('not for us')
      }
      const bonus = { address: `0x${'c'.repeat(40)}`, pid: 'spring', id: `bonus-${event.id}`, xp: 5 }
      if (this.#bonuses && !(await this.#bonuses.settle(bonus, owner))) throw new Error('the award has no verdict yet')
      if (store !== undefined && random.chance(0.7)) {
        await store.runOnce(context.key, (database) => {
          database.exec(TABLE)
          database.prepare('INSERT INTO effects VALUES (?)').run(event.id)
        })
        message.ranOnce = true
      }
      message.handled++
    } finally {
      message.handlers.splice(message.handlers.indexOf(run), 1)
    }
  }

  /** The store in another process, behind a network that sometimes fails. */
  #overNetwork(owner: Process): DeliveryStore {
    const { world, scene } = this
    const { random } = world
    const pause = () => new Promise<void>((resolve) => world.after(random.int(0, 20), resolve, owner))
    const call = async <T>(apply: () => Promise<T>): Promise<T> => {
      const fault = scene.isCalm ? 1 : random.next()
      await pause()
      if (fault < 0.005) return new Promise<never>(() => undefined)
      if (fault < 0.01) throw new Error('connection lost')
      const result = await owner.use(apply)
      await pause()
      if (fault < 0.015) throw new Error('connection lost')
      return result
    }
    return {
      claim: (key, leaseMs) => call(() => this.#server.claim(key, leaseMs)),
      extend: (key, token, leaseMs) => call(() => this.#server.extend(key, token, leaseMs)),
      complete: (key, token, retainMs) => call(() => this.#server.complete(key, token, retainMs)),
      release: (key, token) => call(() => this.#server.release(key, token)),
    }
  }

  async #close(): Promise<void> {
    for (const running of this.#receivers) {
      const { owner, receiver, store } = await running
      await owner.run(() => receiver.close())
      this.world.requireNoTimers(owner)
      if (store !== undefined) await owner.run(async () => store.close())
    }
  }

  /** Returns how often `runOnce` had an effect for each message. */
  #effects(): Map<string, number> {
    const sql = 'SELECT id, count(*) AS n FROM effects GROUP BY id'
    const rows = this.scene.disk.query<{ id: string; n: number }>(FILE, sql)
    return new Map(rows.map(({ id, n }) => [id, n]))
  }

  /** The invariants of the messages, after all attempts. */
  check(): void {
    const { world, scene } = this
    const effects = this.#effects()
    // A claim that ends later than any lease comes from a clock that was set back, and counts as expired.
    const live = `state = 'claimed' AND expires_at > ${world.wallNow} AND expires_at <= ${world.wallNow + MAX_LEASE_MS}`
    const claims = scene.disk.query(FILE, `SELECT key FROM campaign_deliveries WHERE ${live}`)
    world.require(claims.length === 0, () => `${claims.length} claims are left`)
    for (const { id, ranOnce, handlers } of this.#messages.values()) {
      const times = effects.get(id) ?? 0
      world.require(times <= 1, () => `runOnce ran ${times} times for ${id}`)
      world.require(!ranOnce || times === 1, () => `runOnce returned for ${id}, and its effect is lost`)
      world.require(!handlers.some(({ owner }) => owner.isAlive), () => `a handler of ${id} has not ended`)
    }
  }
}

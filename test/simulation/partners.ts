import { inspect } from 'node:util'
import { CampaignClient, type CampaignClientOptions } from 'campaign-client'
import { Disk } from './disk.ts'
import { BASE_URL, ClientWatch, Network } from './network.ts'
import { newState, newToken, type ServiceState } from './service.ts'
import { Process, type World } from './world.ts'

/** The account of the partner, and one that its tokens never should have. */
export const ACCOUNT = 'partner'
const OTHER_ACCOUNT = 'other-partner'

/** The service, its network and a disk, with the weather that is drawn for the world. */
export class Scene {
  readonly world: World
  readonly state: ServiceState = newState()
  readonly network: Network
  readonly disk: Disk
  /** From then on nothing fails. */
  readonly calmAt: number
  /** Until when token sources return tokens of another account. */
  #otherAccountUntil = 0
  readonly #tokenMs: number
  /** Whether token sources take seconds. */
  readonly #hasSlowTokens: boolean
  readonly #processes: Process[] = []

  constructor(world: World) {
    const { random } = world
    this.world = world
    this.network = new Network(world, this.state)
    this.disk = new Disk(world)
    this.calmAt = random.duration(10_000, 6 * 3_600_000)
    // The client renews a token 30 s before its end.
    this.#tokenMs = random.chance(0.3) ? 32_000 : random.duration(60_000, 4 * 3_600_000)
    this.#hasSlowTokens = random.chance(0.2)
  }

  get isCalm(): boolean {
    return this.network.isCalm
  }

  /** Brings outages, clock steps, a full disk and wrong tokens, until the calm. */
  async weather(): Promise<void> {
    const { world, network, disk } = this
    const { random } = world
    const kinds = random.some(['outage', 'clock', 'disk', 'revoked', 'account', 'stop'], 0.4)
    for (;;) {
      const waitMs = random.duration(100, 3_600_000)
      if (kinds.length === 0 || world.now + waitMs >= this.calmAt) break
      await world.sleep(waitMs)
      switch (random.pick(kinds)) {
        case 'outage':
          network.goDown(random.duration(500, 2 * 3_600_000))
          break
        case 'clock':
          world.stepClock(random.pick([-1, 1]) * random.duration(10, 3_600_000))
          break
        case 'disk':
          world.say('the disk is full')
          disk.isFull = true
          world.after(random.duration(10, 600_000), () => {
            disk.isFull = false
          })
          break
        case 'revoked':
          world.say('all tokens are revoked')
          this.state.tokens.clear()
          break
        case 'account':
          this.#otherAccountUntil = world.now + random.duration(10_000, 3_600_000)
          world.say('tokens are now of another account')
          break
        case 'stop':
          this.#stop(random.pick(this.#processes.slice(-5)))
      }
    }
    await world.sleep(Math.max(0, this.calmAt - world.now))
    world.say('from now on nothing fails')
    network.isCalm = true
    disk.isFull = false
  }

  /** Stops a process for a while. */
  #stop(owner: Process | undefined): void {
    if (owner === undefined) return
    const ms = Math.min(this.world.random.duration(1_000, 600_000), this.calmAt - this.world.now)
    this.world.say(`${owner.name} is stopped for ${ms} ms`)
    owner.stoppedUntil = this.world.now + ms
  }

  /** Starts a process. Unless it is calm, it may die soon. @param name - its first word is the sender of its requests */
  start(name: string): Process {
    const { random } = this.world
    const owner = new Process(this.world, name)
    if (!this.isCalm && random.chance(0.4)) owner.diesAt = random.duration(1, 400)
    this.#processes.push(owner)
    return owner
  }

  /** Creates a client of a process. @param account - of its tokens, once nothing fails */
  client(owner: Process, account = ACCOUNT): CampaignClient {
    const { random } = this.world
    const timeoutMs = random.chance(0.5) ? random.duration(500, 30_000) : 10_000
    const watch = new ClientWatch(this.world)
    let asked = 0
    const source = async () => {
      const number = ++asked
      const token = await this.#tokenSource(owner, account)
      watch.received(token, number)
      return token
    }
    const options: CampaignClientOptions = {
      baseUrl: BASE_URL,
      accessToken: random.chance(0.2) ? this.#newToken(account) : source,
      maxRetries: random.pick([0, 1, 2, 5]),
      timeoutMs,
      ...(random.chance(0.3) && { limits: { maxConcurrency: random.int(1, 4) } }),
      ...(random.chance(0.6)
        ? { transport: this.network.transport(owner, watch) }
        : { fetch: this.network.fetch(owner, watch) }),
    }
    return new CampaignClient(options)
  }

  async #tokenSource(owner: Process, account: string): Promise<string> {
    const { world } = this
    const { random } = world
    const isSlow = this.#hasSlowTokens && !this.isCalm
    const delayMs = isSlow ? random.int(1_000, 30_000) : random.duration(1, this.isCalm ? 500 : 20_000)
    if (isSlow || random.chance(0.3)) await new Promise<void>((resolve) => world.after(delayMs, resolve, owner))
    if (!this.isCalm && random.chance(0.05)) throw new Error('the identity provider is down')
    const isOther = !this.isCalm && world.now < this.#otherAccountUntil
    return this.#newToken(isOther ? OTHER_ACCOUNT : account)
  }

  #newToken(subject: string): string {
    const { world } = this
    const expiresAt = world.wallNow + this.#tokenMs
    const { token, secret } = newToken(world.random, subject, expiresAt)
    world.secrets.push(secret)
    this.state.tokens.set(token, { subject, expiresAt })
    return token
  }

  /** Fails if something that a partner may log or store contains a token. */
  requireNoSecret(value: unknown, where: string): void {
    this.world.requireNoSecret(`${inspect(value, { depth: 10 })} ${JSON.stringify(value)}`, where)
  }

  /** Ends all processes. */
  end(): void {
    for (const owner of this.#processes) owner.isAlive = false
    this.disk.remove()
  }
}

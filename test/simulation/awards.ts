import { type CampaignClient, CampaignError } from 'campaign-client'
import {
  type AwardLedger,
  type AwardReport,
  type AwardRow,
  AwardRunStoppedError,
  AwardUnsettledError,
  awardOne,
  confirmFromProgress,
  type Evidence,
  type FinalVerdict,
  fileLedger,
  rewardId,
  rewardWallets,
  type Verdict,
} from 'campaign-client/bulk'
import { type AwardState, resultOf } from '../../src/bulk/ledger/award-state.ts'
import { ACCOUNT, type Scene } from './partners.ts'
import { type LedgerPorts, SharedLedgerModel } from './shared-ledger.ts'
import type { Ended, Process, World } from './world.ts'

/** What a ledger says of an award. */
interface Entry {
  readonly verdict: FinalVerdict | null
  readonly code: string | undefined
}

type LedgerKind = 'file' | 'shared' | 'none'

/** Awards of one partner under one ledger, or without one: a list for `rewardWallets`, or jobs for `awardOne`. */
abstract class Awards {
  readonly scene: Scene
  readonly world: World
  /** The first word of the names of its processes. */
  readonly name: string
  readonly kind: LedgerKind
  /** The rows, among them duplicates and invalid ones. */
  readonly rows: AwardRow[] = []
  /** The valid rows by id. */
  readonly valid = new Map<string, AwardRow>()
  readonly #model = new SharedLedgerModel()
  readonly #file: string

  constructor(scene: Scene, name: string, kind: LedgerKind, count = scene.world.random.int(1, 8)) {
    const { random } = scene.world
    this.scene = scene
    this.world = scene.world
    this.name = name
    this.kind = kind
    this.#file = `${name}.ledger`
    const pid = random.pick(['spring', 'autumn'])
    for (let n = count; n > 0; n--) {
      const address = `0x${random.int(0, 3).toString().padStart(40, 'a')}`
      const row = { address, pid, id: rewardId({ pid, address, reason: `${name} ${n}` }), xp: random.int(1, 500) }
      this.rows.push(row)
      if (random.chance(0.1)) this.rows.push({ ...row, address: address.toUpperCase().replace('0X', '0x') })
      if (random.chance(0.05)) this.rows.push({ ...row, id: `invalid-${n}`, xp: -1 })
      this.valid.set(row.id, row)
      const { state } = scene
      const use = random.next()
      if (use < 0.08) state.refusedIds.add(row.id)
      // Another program has used the id, for this award or for another amount.
      if (use > 0.92) {
        state.awards.set(row.id, { ...row, xp: random.pick([row.xp, 1]), sender: 'stranger', subject: ACCOUNT })
      }
    }
  }

  /** The ledger as a process opens it. */
  ledger(owner: Process): AwardLedger | undefined {
    if (this.kind === 'none') return undefined
    return this.kind === 'file'
      ? fileLedger(this.scene.disk.path(this.#file))
      : this.#model.ledger(portsOf(owner, this.scene))
  }

  /** Reads the ledger, as the package would after the processes of this moment have died. */
  entries(): Map<string, Entry> {
    if (this.kind === 'shared') return entriesOf(this.#model, this.world.now)
    const rows = this.#query<{ id: string; verdict: FinalVerdict | null; error: string | null }>(
      'SELECT id, verdict, error FROM awards',
    )
    const codeOf = (error: string | null): string | undefined => (error === null ? undefined : JSON.parse(error).code)
    return new Map(rows.map(({ id, verdict, error }) => [id, { verdict, code: codeOf(error) }]))
  }

  /** The account that the ledger belongs to, if it has one. */
  account(): string | undefined {
    if (this.kind === 'shared') return this.#model.target?.subject ?? undefined
    const [run] = this.#query<{ target: string | null }>('SELECT target FROM run')
    return run?.target ? (JSON.parse(run.target).subject as string) : undefined
  }

  #query<Row>(sql: string): Row[] {
    return this.scene.disk.query<Row>(this.#file, sql)
  }

  /** Draws how refused awards are confirmed. */
  evidence(client: Parameters<typeof confirmFromProgress>[0]): Evidence {
    const { world, scene } = this
    const { random } = world
    const throwing = async (): Promise<never> => {
      throw new Error('our own records are down')
    }
    const confirm = random.pick([undefined, false, confirmFromProgress(client, { amounts: true }), throwing] as const)
    return {
      ...(confirm !== undefined && (confirm !== throwing || !scene.isCalm) && { confirm }),
      ...(random.chance(0.3) && { isUsedId: ({ headers }) => headers['x-refusal-reason'] === 'used_id' }),
    }
  }

  isOurs(id: string): boolean {
    return this.scene.state.awards.get(id)?.sender === this.name
  }

  /** The invariants of the ledger and the service. */
  check(): void {
    const { world } = this
    const { awards } = this.scene.state
    const entries = this.entries()
    for (const [id, { verdict, code }] of entries) {
      if (code === 'used_before')
        world.require(!this.isOurs(id), () => `${this.name}: the ledger says ${id} was used before, and it is ours`)
      if (verdict === 'awarded')
        world.require(this.isOurs(id), () => `${this.name}: the ledger says ${id} is awarded, and it was not applied`)
      if (verdict === 'alreadyAwarded')
        world.require(
          awards.has(id),
          () => `${this.name}: the ledger says ${id} is alreadyAwarded, and it was not applied`,
        )
      if (verdict === 'rejected')
        world.require(
          !this.isOurs(id),
          () => `${this.name}: the ledger says ${id} is rejected, and its request was applied`,
        )
    }
    const subjects = new Set<string>()
    for (const [id, { sender, subject }] of awards) {
      if (sender !== this.name) continue
      subjects.add(subject)
      if (this.kind === 'none') continue
      world.require(entries.has(id), () => `${this.name}: ${id} was applied, and the ledger has no entry`)
    }
    if (this.kind === 'none') return
    world.require(subjects.size <= 1, () => `${this.name}: awards were sent under ${[...subjects].join(' and ')}`)
  }
}

/** A list that is sent again until it is complete. */
export class AwardList extends Awards {
  /** The number of points of the last run. */
  points = 0
  #runs = 0
  /** The runs under way. */
  readonly #running = new Set<Process>()
  /** The run that sent the last request. */
  #sender: Process | undefined

  constructor(scene: Scene, name: string, count?: number, kind?: LedgerKind) {
    super(scene, name, kind ?? (scene.world.random.chance(0.3) ? 'shared' : 'file'), count)
    scene.network.onSend.push((owner) => this.#checkOwner(owner))
  }

  /** One run at a time uses a file. */
  #checkOwner(owner: Process): void {
    if (this.kind !== 'file' || owner.name.split(' ')[0] !== this.name) return
    const other = this.#sender
    this.#sender = owner
    this.world.require(
      other === owner || !other?.isAlive || !this.#running.has(other),
      () => `${owner.name} and ${other?.name} use one ledger`,
    )
  }

  /** Sends the list until it is complete, at times by two processes at once. */
  async send(): Promise<void> {
    const { world, scene } = this
    const { random } = world
    while (!scene.isCalm) {
      await world.sleep(random.duration(100, 1_800_000))
      const rivals = random.chance(0.3) ? 2 : 1
      await Promise.all(Array.from({ length: rivals }, () => this.run(false)))
    }
    // Requests of earlier runs may still arrive, and leases of dead processes end.
    await world.sleep(700_000)
    for (let run = 1; run <= 3; run++) if (await this.run(true)) return
    world.violate(`${this.name}: the list is not complete after three runs without a fault`)
  }

  /**
   * @param at - the point at which the process dies or is interrupted, if it is not drawn
   * @returns whether the list is complete
   */
  async run(isLast: boolean, at: { readonly diesAt?: number; readonly interruptedAt?: number } = {}): Promise<boolean> {
    const { world, scene } = this
    const { random } = world
    const owner = scene.start(`${this.name} run ${++this.#runs}`)
    owner.diesAt = at.diesAt ?? owner.diesAt
    const hadRival = this.#running.size > 0
    const started = this.#runs
    this.#running.add(owner)
    const ended = await owner.run(async () => {
      const client = scene.client(owner, isLast ? this.account() : undefined)
      const controller = new AbortController()
      owner.onPoint = (point) => {
        if (point === at.interruptedAt) controller.abort(new Error('interrupted'))
      }
      if (!isLast && at.interruptedAt === undefined && at.diesAt === undefined && random.chance(0.2)) {
        setTimeout(() => controller.abort(new Error('interrupted')), random.duration(1, 60_000)).unref()
      }
      const report = await rewardWallets(client, this.rows, {
        ledger: this.ledger(owner) as AwardLedger,
        ...this.evidence(client),
        concurrency: random.int(1, 4),
        signal: controller.signal,
        retryRejected: isLast || random.chance(0.2),
        strict: !this.#hasInvalid && random.chance(0.2),
        ...(random.chance(0.5) && { patienceMs: random.pick([0, 10_000, 600_000]) }),
        ...(random.chance(0.5) && {
          onProgress: () =>
            world.require(
              !owner.isAlive || this.#running.has(owner),
              () => `${owner.name}: onProgress is called after the end`,
            ),
        }),
      })
      return report
    })
    this.#running.delete(owner)
    this.points = owner.points
    if (ended.how !== 'died') world.requireNoTimers(owner)
    const report = this.#reportOf(ended)
    world.say(`${owner.name}: ${ended.how}${report === undefined ? '' : ` ${JSON.stringify(report.counts)}`}`)
    this.check()
    if (report !== undefined) {
      scene.requireNoSecret(report, 'a report')
      const wasAlone = !hadRival && this.#runs === started
      this.#checkReport(report, wasAlone)
    }
    return report?.complete ?? false
  }

  get #hasInvalid(): boolean {
    return this.rows.some(({ xp }) => xp < 0)
  }

  #reportOf(ended: Ended<AwardReport>): AwardReport | undefined {
    if (ended.how === 'returned') return ended.value
    if (ended.how === 'died') return undefined
    const { error } = ended
    this.scene.requireNoSecret(error, 'an error')
    if (error instanceof AwardRunStoppedError) {
      this.world.say(error.message.replaceAll(this.scene.disk.folder, 'disk'))
      this.world.require(!error.report.complete, () => `${this.name}: a run that stopped says that it is complete`)
      return error.report
    }
    // The file is in use, belongs to another account or can't be written.
    this.world.require(
      error instanceof CampaignError && error.code === 'configuration',
      () => `${this.name}: rewardWallets threw ${String(error)}`,
    )
    return undefined
  }

  /** Compares a report with the ledger and the service. @param wasAlone - whether no other process changed the ledger */
  #checkReport({ rows, counts, xp, problems, complete, usedBefore }: AwardReport, wasAlone: boolean): void {
    const { world, name } = this
    const entries = this.entries()
    const tally: Record<Verdict, number> = {
      awarded: 0,
      alreadyAwarded: 0,
      unconfirmed: 0,
      rejected: 0,
      indeterminate: 0,
    }
    let awardedXp = 0
    let used = 0
    for (const [id, row] of this.valid) {
      const { verdict, code } = entries.get(id) ?? {}
      if (verdict) tally[verdict]++
      if (code === 'used_before') used++
      if (verdict === 'awarded') awardedXp += row.xp
    }
    for (const { id, verdict, code } of problems) {
      if (code === 'invalid_request' || code === 'ledger_failed' || !wasAlone) continue
      const recorded = entries.get(id as string)?.verdict ?? 'indeterminate'
      world.require(
        verdict === recorded,
        () => `${name}: the report says ${id} is ${verdict}, and the ledger says ${recorded}`,
      )
    }
    if (!wasAlone) return
    for (const verdict of ['awarded', 'alreadyAwarded'] as const)
      world.require(
        counts[verdict] <= tally[verdict],
        () => `${name}: the report counts ${counts[verdict]} ${verdict}, and the ledger has ${tally[verdict]}`,
      )
    if (!complete) return
    const invalid = this.rows.filter((row) => row.xp < 0).length
    const expected = {
      ...tally,
      rejected: tally.rejected + invalid,
      duplicate: this.rows.length - invalid - this.valid.size,
    }
    const shown = JSON.stringify
    world.require(rows === this.rows.length, () => `${name}: a complete report has ${rows} of ${this.rows.length} rows`)
    world.require(
      usedBefore.awards === used,
      () => `${name}: the report counts ${usedBefore.awards} used ids, and the ledger has ${used}`,
    )
    world.require(
      xp.awarded === awardedXp,
      () => `${name}: the report says ${xp.awarded} XP, and the ledger ${awardedXp}`,
    )
    for (const verdict of Object.keys(expected) as (keyof typeof expected)[])
      world.require(
        counts[verdict] === expected[verdict],
        () => `${name}: the report counts ${shown(counts)}, and the ledger has ${shown(expected)}`,
      )
  }
}

/** Jobs of a queue that runs each job until it succeeds, at times twice at once. */
export class AwardJobs extends Awards {
  readonly #open = new Map(this.valid)
  readonly #tried = new Set<string>()
  readonly #workers = this.world.random.int(1, 3)
  #attempts = 0

  constructor(scene: Scene, name: string, count?: number, kind?: LedgerKind) {
    super(scene, name, kind ?? scene.world.random.pick(['file', 'shared', 'none']), count)
  }

  /** Works on the jobs until each has its verdict. */
  async work(): Promise<void> {
    await Promise.all(Array.from({ length: this.#workers }, (_, n) => this.#worker(n + 1)))
    this.check()
  }

  async #worker(number: number): Promise<void> {
    const { world, scene } = this
    while (this.#open.size > 0) {
      await world.sleep(world.random.duration(100, scene.isCalm ? 60_000 : 1_800_000))
      await this.attempt(undefined, number)
    }
  }

  /** Works on jobs in a process until one has no verdict. @param diesAt - the point at which it dies, if it is not drawn */
  async attempt(diesAt?: number, number = 1): Promise<void> {
    const owner = this.scene.start(`${this.name} worker ${number}`)
    owner.diesAt = diesAt ?? owner.diesAt
    const ended = await owner.run(async () => {
      while (this.#open.size > 0) {
        const row = this.world.random.pick([...this.#open.values()])
        if (!(await this.settle(row, owner))) return
        this.#open.delete(row.id)
      }
    })
    if (ended.how === 'threw') throw ended.error
    this.check()
  }

  /** Calls `awardOne` once. @returns whether the award has its verdict */
  async settle(row: AwardRow, owner: Process): Promise<boolean> {
    const { world, scene } = this
    const { random } = world
    const client = scene.client(owner, scene.isCalm ? this.account() : undefined)
    const ledger = this.ledger(owner)
    // A second worker may send the award at the same time.
    const isOnly = this.#workers === 1 && !this.#tried.has(row.id)
    this.#tried.add(row.id)
    try {
      const options = {
        ...(ledger && { ledger }),
        ...this.evidence(client),
        retryRejected: random.chance(0.1),
        ...(ledger === undefined && isOnly && random.chance(0.5) && { mayBeSent: false }),
      }
      this.#done(row, await awardOne(client, row, options))
      return true
    } catch (error) {
      if (!owner.isAlive) return false
      scene.requireNoSecret(error, 'an error')
      if (error instanceof AwardUnsettledError && error.outcome === 'not_applied' && this.#workers === 1) {
        world.require(!this.isOurs(row.id), () => `awardOne says ${row.id} is not_applied, and it was applied`)
      }
      world.say(`${owner.name}: ${String(error).replaceAll(scene.disk.folder, 'disk')}`)
      const isExpected =
        error instanceof AwardUnsettledError ||
        isDiskFull(error) ||
        error instanceof LedgerLost ||
        error instanceof CampaignError
      world.require(isExpected, () => `awardOne threw ${String(error)}`)
      if (scene.isCalm && ++this.#attempts > 400) world.violate(`${this.name}: jobs have no verdict after 400 attempts`)
      return false
    }
  }

  #done(row: AwardRow, verdict: FinalVerdict): void {
    const { world } = this
    world.say(`${row.id} is ${verdict}`)
    if (verdict === 'awarded')
      world.require(this.isOurs(row.id), () => `awardOne says ${row.id} is awarded, and it was not applied`)
    if (verdict === 'alreadyAwarded')
      world.require(
        this.scene.state.awards.has(row.id),
        () => `awardOne says ${row.id} is alreadyAwarded, and it was not applied`,
      )
    if (verdict === 'rejected')
      world.require(!this.isOurs(row.id), () => `awardOne says ${row.id} is rejected, and it was applied`)
  }
}

/** Reads the ledger as the package does: an award has no verdict while it is claimed. */
function entriesOf(model: SharedLedgerModel, now: number): Map<string, Entry> {
  const resultAt = (id: string) => resultOf(model.stateOf(id, now) as AwardState)
  return new Map(
    [...model.awards.keys()].map((id) => {
      const result = resultAt(id)
      const verdict = result === undefined || result.verdict === 'indeterminate' ? null : result.verdict
      return [id, { verdict, code: result?.failure?.code }]
    }),
  )
}

class LedgerLost extends Error {}

const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && (error as NodeJS.ErrnoException).code === 'ENOSPC'

/** The connections of a process to the database, which break before or after a statement. */
export function portsOf(owner: Process, scene: Scene): LedgerPorts {
  const { world } = scene
  const { random } = world
  const wait = () => new Promise<void>((resolve) => world.after(random.int(0, 20), resolve, owner))
  return {
    now: () => world.now,
    token: () => random.uuid(),
    async send(statement) {
      await wait()
      const fault = scene.isCalm ? 1 : random.next()
      if (fault < 0.01) throw new LedgerLost('connection lost')
      const result = owner.use(statement)
      await wait()
      if (fault < 0.02) throw new LedgerLost('connection lost')
      return result
    },
  }
}

/** Makes single calls, some at the same time, and compares what the client says with what the service did. */
export async function makeCalls(scene: Scene, name: string): Promise<void> {
  const { world, state } = scene
  const { random } = world
  /** What the client says of each call, by the value or the id. */
  const said = new Map<number | string, string>()
  for (let processes = random.int(1, 3); processes > 0; processes--) {
    const owner = scene.start(`${name} ${processes}`)
    await owner.run(async () => {
      const client = scene.client(owner)
      for (let rounds = random.int(1, 4); rounds > 0; rounds--) {
        await new Promise<void>((resolve) => world.after(random.duration(100, 1_800_000), resolve, owner))
        await Promise.all(Array.from({ length: random.int(1, 3) }, () => call(client)))
      }
    })
  }

  async function call(parent: CampaignClient): Promise<void> {
    const value = random.int(1, 1e9)
    const key = random.pick([value, `${name}-${value}`])
    const onEnd = ({ outcome, error }: { outcome?: string; error?: unknown }): void =>
      void said.set(key, error ? (outcome ?? '') : 'done')
    const client = parent.with({ hooks: { onEnd } })
    const controller = new AbortController()
    if (random.chance(0.2)) setTimeout(() => controller.abort(new Error('aborted')), random.duration(1, 20_000)).unref()
    const { signal } = controller
    const made =
      typeof key === 'number'
        ? client.recordActionValue(
            { account: 'user', platform: 'web', pid: 'spring', cid: 'quest', aid: 'task', value },
            { signal },
          )
        : client.rewardWallet({ address: `0x${'b'.repeat(40)}`, pid: 'spring', id: key, xp: 1 }, { signal })
    await made.catch((error: unknown) => scene.requireNoSecret(error, 'an error'))
  }

  // Late requests have arrived.
  await world.sleep(Math.max(0, scene.calmAt - world.now) + 700_000)
  for (const [key, text] of said) {
    const times = typeof key === 'number' ? (state.values.get(key) ?? 0) : Number(state.awards.has(key))
    world.require(times <= 1, () => `${name}: one call of recordActionValue was counted ${times} times`)
    if (text === 'done') world.require(times === 1, () => `${name}: the call ${key} succeeded, and was not applied`)
    if (text === 'not_applied')
      world.require(times === 0, () => `${name}: the call ${key} is not_applied, and was applied`)
  }
}

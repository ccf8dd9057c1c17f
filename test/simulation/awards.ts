import { CampaignError } from 'campaign-client'
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

/** Awards of one partner under one ledger: a list for `rewardWallets`, or jobs for `awardOne`. */
abstract class Awards {
  readonly scene: Scene
  readonly world: World
  /** The first word of the names of its processes. */
  readonly name: string
  /** The rows, among them duplicates and invalid ones. */
  readonly rows: AwardRow[] = []
  /** The valid rows by id. */
  readonly valid = new Map<string, AwardRow>()

  constructor(scene: Scene, name: string, count = scene.world.random.int(1, 8)) {
    const { random } = scene.world
    this.scene = scene
    this.world = scene.world
    this.name = name
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

  abstract entries(): Map<string, Entry>
  /** The account that the ledger belongs to, if it has one. */
  abstract account(): string | undefined

  /** Draws how refused awards are confirmed. */
  evidence(client: Parameters<typeof confirmFromProgress>[0]): Evidence {
    const { random } = this.world
    return {
      ...(random.chance(0.8) && {
        confirm: random.chance(0.6) && confirmFromProgress(client, random.chance(0.5) ? {} : { amounts: true }),
      }),
      ...(random.chance(0.3) && {
        isUsedId: ({ headers }) =>
          headers['x-refusal-reason'] === undefined ? undefined : headers['x-refusal-reason'] === 'used_id',
      }),
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
        world.require(
          !this.isOurs(id),
          () => `${this.name}: the ledger says the id ${id} was used before, and its request was applied`,
        )
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
      world.require(entries.has(id), () => `${this.name}: ${id} was applied, and the ledger has no entry`)
    }
    world.require(subjects.size <= 1, () => `${this.name}: awards were sent under ${[...subjects].join(' and ')}`)
  }
}

/** A list that is sent again until it is complete. */
export class AwardList extends Awards {
  readonly #model: SharedLedgerModel | undefined
  readonly #path: string
  #runs = 0
  /** The runs under way. */
  readonly #running = new Set<Process>()
  /** The run that sent the last request. */
  #sender: Process | undefined

  constructor(scene: Scene, name: string, count?: number) {
    super(scene, name, count)
    this.#path = `${name}.ledger`
    this.#model = scene.world.random.chance(0.3) ? new SharedLedgerModel() : undefined
    scene.network.onSend.push((owner) => this.#checkOwner(owner))
  }

  /** One run at a time uses a file. */
  #checkOwner(owner: Process): void {
    if (this.#model !== undefined || owner.name.split(' ')[0] !== this.name) return
    const other = this.#sender
    this.#sender = owner
    this.world.require(
      other === owner || !other?.isAlive || !this.#running.has(other),
      () => `${owner.name} and ${other?.name} use one ledger`,
    )
  }

  entries(): Map<string, Entry> {
    if (this.#model !== undefined) return entriesOf(this.#model, this.world.now)
    const sql = 'SELECT id, verdict, error FROM awards WHERE (SELECT count(*) FROM sqlite_schema) > 0'
    const rows = this.#query<{ id: string; verdict: FinalVerdict | null; error: string | null }>(sql)
    return new Map(
      rows.map(({ id, verdict, error }) => [
        id,
        { verdict, code: error === null ? undefined : JSON.parse(error).code },
      ]),
    )
  }

  account(): string | undefined {
    if (this.#model !== undefined) return this.#model.target?.subject ?? undefined
    const [run] = this.#query<{ target: string | null }>('SELECT target FROM run')
    return run?.target ? (JSON.parse(run.target).subject as string) : undefined
  }

  #query<Row>(sql: string): Row[] {
    try {
      return this.scene.disk.query<Row>(this.#path, sql)
    } catch (error) {
      // A process that died while it created the file.
      if (/no such table/.test(String(error))) return []
      throw error
    }
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

  /** @param diesAt - the point at which the process dies, if it is not drawn. @returns whether the list is complete */
  async run(isLast: boolean, diesAt?: number): Promise<boolean> {
    const { world, scene } = this
    const { random } = world
    const owner = scene.start(`${this.name} run ${++this.#runs}`)
    owner.diesAt = diesAt ?? owner.diesAt
    const hadRival = this.#running.size > 0
    const started = this.#runs
    this.#running.add(owner)
    const ended = await owner.run(async () => {
      const client = scene.client(owner, isLast ? this.account() : undefined)
      const controller = new AbortController()
      if (!isLast && random.chance(0.2)) {
        setTimeout(() => controller.abort(new Error('interrupted')), random.duration(1, 60_000)).unref()
      }
      const report = await rewardWallets(client, this.rows, {
        ledger: this.#ledger(owner),
        ...this.evidence(client),
        concurrency: random.int(1, 4),
        signal: controller.signal,
        retryRejected: isLast || random.chance(0.2),
        strict: !this.#hasInvalid && random.chance(0.2),
        ...(random.chance(0.5) && { onProgress: () => undefined, patienceMs: random.pick([0, 10_000, 600_000]) }),
      })
      return report
    })
    this.#running.delete(owner)
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

  #ledger(owner: Process): AwardLedger {
    return this.#model?.ledger(portsOf(owner, this.scene)) ?? fileLedger(this.scene.disk.path(this.#path))
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
  #checkReport({ rows, counts, xp, problems, usedBefore, complete }: AwardReport, wasAlone: boolean): void {
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
    let usedIds = 0
    for (const [id, row] of this.valid) {
      const { verdict, code } = entries.get(id) ?? {}
      if (verdict) tally[verdict]++
      if (code === 'used_before') usedIds++
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
      xp.awarded === awardedXp,
      () => `${name}: the report says ${xp.awarded} XP, and the ledger ${awardedXp}`,
    )
    world.require(
      usedBefore.awards === usedIds,
      () => `${name}: the report says ${usedBefore.awards} ids were used before, and the ledger ${usedIds}`,
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
  readonly #model = new SharedLedgerModel()
  readonly #open = new Map(this.valid)
  #attempts = 0

  entries(): Map<string, Entry> {
    return entriesOf(this.#model, this.world.now)
  }

  account(): string | undefined {
    return this.#model.target?.subject ?? undefined
  }

  /** Works on the jobs until each has its verdict. */
  async work(): Promise<void> {
    const workers = this.world.random.int(1, 3)
    await Promise.all(Array.from({ length: workers }, (_, n) => this.#worker(n + 1)))
    this.check()
  }

  async #worker(number: number): Promise<void> {
    const { world, scene } = this
    const { random } = world
    while (this.#open.size > 0) {
      await world.sleep(random.duration(100, scene.isCalm ? 60_000 : 1_800_000))
      const owner = scene.start(`${this.name} worker ${number}`)
      const ended = await owner.run(async () => {
        while (this.#open.size > 0) {
          const row = random.pick([...this.#open.values()])
          if (!(await this.settle(row, owner))) return
          this.#open.delete(row.id)
        }
      })
      if (ended.how === 'threw') throw ended.error
      this.check()
    }
  }

  /** Calls `awardOne` once. @returns whether the award has its verdict */
  async settle(row: AwardRow, owner: Process): Promise<boolean> {
    const { world, scene } = this
    const { random } = world
    const client = scene.client(owner, scene.isCalm ? this.account() : undefined)
    const ledger = this.#model.ledger(portsOf(owner, scene))
    this.valid.set(row.id, row)
    try {
      const options = { ledger, ...this.evidence(client), retryRejected: random.chance(0.1) }
      this.#done(row, await awardOne(client, row, options))
      return true
    } catch (error) {
      if (!owner.isAlive) return false
      scene.requireNoSecret(error, 'an error')
      world.say(`${owner.name}: ${String(error)}`)
      const isExpected =
        error instanceof AwardUnsettledError || error instanceof LedgerLost || error instanceof CampaignError
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

export class LedgerLost extends Error {}

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

/** Makes single calls, and compares what the client says with what the service did. */
export async function makeCalls(scene: Scene, name: string): Promise<void> {
  const { world, state } = scene
  const { random } = world
  /** What the client says of each call, by the value or the id. */
  const said = new Map<number | string, string>()
  for (let n = random.int(1, 6); n > 0; n--) {
    await world.sleep(random.duration(100, 1_800_000))
    const owner = scene.start(`${name} ${n}`)
    const value = random.int(1, 1e9)
    const key = random.pick([value, `${name}-${value}`])
    await owner.run(async () => {
      const onEnd = ({ outcome, error }: { outcome?: string; error?: unknown }): void =>
        void said.set(key, error ? (outcome ?? '') : 'done')
      const client = scene.client(owner, undefined, { onEnd })
      const controller = new AbortController()
      if (random.chance(0.2))
        setTimeout(() => controller.abort(new Error('aborted')), random.duration(1, 20_000)).unref()
      const { signal } = controller
      const call =
        typeof key === 'number'
          ? client.recordActionValue(
              { account: 'user', platform: 'web', pid: 'spring', cid: 'quest', aid: 'task', value },
              { signal },
            )
          : client.rewardWallet({ address: `0x${'b'.repeat(40)}`, pid: 'spring', id: key, xp: 1 }, { signal })
      await call.catch((error: unknown) => scene.requireNoSecret(error, 'an error'))
    })
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

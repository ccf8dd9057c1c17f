import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { createWebhookReceiver, signWebhook, type WebhookReceiver } from 'campaign-client/webhook'
import { describe, expect, type TestContext, test } from 'vitest'
import { compiled } from '../../support/compiled.ts'
import { failedMessages } from '../receiver/observed-receiver.ts'
import { activity } from '../signed-message.ts'
import { type CrashClient, type CrashTask, openCrashStore } from './crash-store.ts'

const CHILD = 'test/webhook/stores/crash-child.ts'

/**
 * The lease of the process that is stopped or killed. Long enough to check the store between a crash and the end of the
 * lease, even on a busy machine.
 */
const LEASE_MS = 5_000

/** In the message of a store whose database has not responded in time. */
const SLOW = 'did not respond within'

type Step = Record<string, unknown>

/** A receiver in another process, and its reported steps. */
class ReceiverProcess {
  readonly #process: ChildProcess
  readonly #steps: Step[] = []
  #changed: () => void = () => undefined
  #errors = ''

  constructor(file: string, task: CrashTask) {
    this.#process = spawn(process.execPath, [file, JSON.stringify(task)], {
      env: { ...process.env, CAMPAIGN_TEST_UNSTARVED: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#process.stderr?.on('data', (chunk) => {
      this.#errors += chunk
    })
    if (this.#process.stdout) {
      createInterface({ input: this.#process.stdout }).on('line', (line) => {
        this.#steps.push(JSON.parse(line) as Step)
        this.#changed()
      })
    }
    this.#process.once('close', () => this.#changed())
  }

  /** Waits for a step with these properties. */
  async step(wanted: Step): Promise<Step> {
    for (;;) {
      const found = this.#steps.find((step) => Object.entries(wanted).every(([name, value]) => step[name] === value))
      if (found) return found
      if (this.#process.exitCode !== null || this.#process.signalCode !== null) {
        throw new Error(
          `The process ended without the step ${JSON.stringify(wanted)}: ${JSON.stringify(this.#steps)}\n${this.#errors}`,
        )
      }
      await new Promise<void>((resolve) => {
        this.#changed = resolve
      })
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal)
  }

  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    const closed = once(this.#process, 'close')
    this.#process.kill('SIGKILL')
    await closed
  }
}

/**
 * Tests receivers in real processes. A process is killed or stopped while its handler runs.
 *
 * @param target - returns the URL and the namespace of the store
 * @param options - `exactlyOnce`: whether the handler uses `runOnce`
 */
export function crashContract(
  client: CrashClient,
  target: () => { url: string; namespace: string },
  { exactlyOnce }: { exactlyOnce: boolean },
): void {
  const pathOf = compiled(CHILD)

  /** Starts a process that halts while it handles the first attempt, and a receiver in this process for later attempts. */
  async function startHalted(haltAt: 'handling' | 'applying' | 'applied', { onTestFinished }: TestContext) {
    const task: CrashTask = {
      client,
      ...target(),
      endpoint: randomUUID(),
      secret: randomUUID(),
      body: JSON.stringify(activity()),
      leaseMs: LEASE_MS,
      keepFailed: exactlyOnce,
      haltAt,
    }
    const local = await openCrashStore(task)
    onTestFinished(() => local.close())
    const errors: unknown[] = []
    const receiver = createWebhookReceiver({
      endpoint: task.endpoint,
      secret: task.secret,
      store: local.store,
      keepFailed: exactlyOnce,
      handle: (_event, { key }) => local.apply(key, async () => undefined),
      onError: (error) => errors.push(error),
    })
    onTestFinished(() => receiver.close())
    const process = new ReceiverProcess(pathOf(CHILD), task)
    onTestFinished(() => process.kill())
    await process.step({ at: haltAt })
    const attempt = () => send(receiver, task)
    return {
      process,
      receiver,
      attempt,
      /** Retries as the service does, until the lease of the other process expires. */
      async attemptUntilHandled(): Promise<void> {
        for (;;) {
          const { status } = await attempt()
          if (status === 200) return
          // On a busy machine, `runOnce` waits too long for the transaction of the other process.
          if (status !== 503) expect(String(errors.at(-1))).toContain(SLOW)
          await wait(25)
        }
      },
      timesApplied: () => local.timesApplied(),
      /** The errors, except of calls of the store that took too long on a busy machine. */
      errors: () => errors.filter((error) => !String(error).includes(SLOW)),
    }
  }

  async function send(receiver: WebhookReceiver, { secret, body }: CrashTask): Promise<Response> {
    const headers = { 'x-service-signature': signWebhook(secret, body) }
    return receiver.fetch(new Request('http://localhost/', { method: 'POST', body, headers }))
  }

  describe.concurrent('a process whose handler runs', () => {
    test('is killed: the delivery is blocked until the lease expires, and the next attempt is handled', async (context) => {
      const { process, attempt, attemptUntilHandled, timesApplied } = await startHalted('handling', context)
      expect((await attempt()).status).toBe(503)
      await process.kill()
      const early = await attempt()
      expect(early.status).toBe(503)
      expect(Number(early.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(await timesApplied()).toBe(0)
      await attemptUntilHandled()
      expect(await timesApplied()).toBe(1)
      expect((await attempt()).status).toBe(200)
      expect(await timesApplied()).toBe(1)
    })

    test(`is killed after the work: the next attempt ${exactlyOnce ? 'does not apply' : 'applies'} it again`, async (context) => {
      const { process, attemptUntilHandled, timesApplied, errors } = await startHalted('applied', context)
      await process.kill()
      expect(await timesApplied()).toBe(1)
      await attemptUntilHandled()
      expect(await timesApplied()).toBe(exactlyOnce ? 1 : 2)
      expect(errors()).toEqual([])
    })

    test('keeps the delivery while it extends its lease', async (context) => {
      const { process, attempt, timesApplied } = await startHalted('handling', context)
      const until = performance.now() + LEASE_MS * 1.5
      while (performance.now() < until) {
        expect((await attempt()).status).toBe(503)
        await wait(50)
      }
      process.signal('SIGUSR2')
      expect(await process.step({ status: 200 })).toBeDefined()
      expect((await attempt()).status).toBe(200)
      expect(await timesApplied()).toBe(1)
    })
  })

  describe.concurrent('a process that stops for longer than its lease', () => {
    test('loses the delivery to the next attempt, and killing it later changes nothing', async (context) => {
      const { process, attempt, attemptUntilHandled, timesApplied, errors } = await startHalted('handling', context)
      process.signal('SIGSTOP')
      await attemptUntilHandled()
      await process.kill()
      expect((await attempt()).status).toBe(200)
      expect(await timesApplied()).toBe(1)
      expect(errors()).toEqual([])
    })

    test('is fenced when it continues after a takeover', async (context) => {
      const { process, attempt, attemptUntilHandled, timesApplied } = await startHalted('handling', context)
      process.signal('SIGSTOP')
      await attemptUntilHandled()
      process.signal('SIGCONT')
      process.signal('SIGUSR2')
      expect(await process.step({ ran: !exactlyOnce })).toBeDefined()
      expect(await process.step({ stage: 'complete' })).toMatchObject({ code: 'lease_lost' })
      expect((await attempt()).status).toBe(200)
      expect(await timesApplied()).toBe(exactlyOnce ? 1 : 2)
    })
  })

  // Redis has no runOnce.
  if (!exactlyOnce) return
  // A transaction of SQLite blocks its process, so nothing can resume it.
  const resumes = client !== 'sqlite'
  describe.concurrent('with runOnce', () => {
    test('a process killed in its handler leaves its message, and of two replays one handles it', async (context) => {
      const { process, receiver, timesApplied } = await startHalted('handling', context)
      const listed = () => failedMessages(receiver)
      await process.kill()
      expect(await listed()).toEqual([])
      await expect.poll(listed, { timeout: 60_000 }).toMatchObject([{ reason: 'not_finished', attempts: 1 }])
      const [{ key } = { key: '' }] = await listed()
      const outcomes = await Promise.all([receiver.replay(key), receiver.replay(key)])
      expect(outcomes.sort()[1]).toBe('handled')
      expect(['busy', 'duplicate']).toContain(outcomes[0])
      expect(await timesApplied()).toBe(1)
      expect(await listed()).toEqual([])
    })

    test('a process killed before the commit writes nothing, and does not block the key', async (context) => {
      const { process, attemptUntilHandled, timesApplied } = await startHalted('applying', context)
      await process.kill()
      expect(await timesApplied()).toBe(0)
      await attemptUntilHandled()
      expect(await timesApplied()).toBe(1)
    })

    test('a process stopped before the commit blocks the next attempt until the process is killed', async (context) => {
      const { process, attemptUntilHandled, timesApplied } = await startHalted('applying', context)
      process.signal('SIGSTOP')
      let ended = false
      const nextAttempt = attemptUntilHandled().finally(() => {
        ended = true
      })
      await wait(LEASE_MS + 1_000)
      expect(ended).toBe(false)
      expect(await timesApplied()).toBe(0)
      await process.kill()
      await nextAttempt
      expect(await timesApplied()).toBe(1)
    })

    if (resumes)
      test('a process that is stopped before the commit and resumed applies the work', async (context) => {
        const { process, attemptUntilHandled, timesApplied } = await startHalted('applying', context)
        process.signal('SIGSTOP')
        const nextAttempt = attemptUntilHandled()
        await wait(LEASE_MS + 1_000)
        process.signal('SIGCONT')
        process.signal('SIGUSR2')
        expect(await process.step({ ran: true })).toBeDefined()
        await nextAttempt
        expect(await timesApplied()).toBe(1)
      })
  })
}

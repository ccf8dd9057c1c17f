/**
 * A receiver in its own process, for tests that kill it. Its first argument is a `CrashTask` with one message, as JSON.
 * Writes one line of JSON for each step.
 */
import { writeSync } from 'node:fs'
import { createWebhookReceiver, signWebhook } from 'campaign-client/webhook'
import { type CrashTask, openCrashStore } from './crash-store.ts'

const task = JSON.parse(process.argv[2] ?? '') as CrashTask
const report = (step: Record<string, unknown>) => process.stdout.write(`${JSON.stringify(step)}\n`)
const { store, apply, close } = await openCrashStore(task)

/** Reports the step, and waits for SIGUSR2. */
async function halt(at: string): Promise<void> {
  const resumed = new Promise<void>((resolve) => {
    const alive = setInterval(() => undefined, 1000)
    process.once('SIGUSR2', () => {
      clearInterval(alive)
      resolve()
    })
  })
  report({ at })
  await resumed
}

/** Reports the step, and blocks the process until it is killed. */
function block(at: string): never {
  writeSync(1, `${JSON.stringify({ at })}\n`)
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

const receiver = createWebhookReceiver({
  endpoint: task.endpoint,
  secret: task.secret,
  store,
  leaseMs: task.leaseMs,
  keepFailed: task.keepFailed,
  deadlineMs: 60_000,
  async handle(_event, { key }) {
    if (task.haltAt === 'handling') await halt('handling')
    const ran = await apply(key, async () => {
      if (task.haltAt !== 'applying') return
      if (task.client === 'sqlite') block('applying')
      await halt('applying')
    })
    report({ ran })
    if (task.haltAt === 'applied') await halt('applied')
  },
  onError: (error, { stage }) =>
    report({ stage, name: (error as Error).name, code: (error as { code?: string }).code }),
})

const response = await receiver.fetch(
  new Request('http://localhost/', {
    method: 'POST',
    body: task.body,
    headers: { 'x-service-signature': signWebhook(task.secret, task.body) },
  }),
)
report({ status: response.status })
await receiver.close()
await close()

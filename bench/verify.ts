import { createHmac, timingSafeEqual } from 'node:crypto'
import { resolve } from 'node:path'
import { verify as octokitVerify } from '@octokit/webhooks-methods'
import { verifyWebhook } from 'campaign-client/webhook'
import { build } from 'esbuild'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import Stripe from 'stripe'
import { Webhook as SvixWebhook } from 'svix'
import { exampleActivity } from '../test/webhook/activity.ts'
import { type Contestant, compare, type Group, OURS, type Subject } from './harness.ts'

const BYTES = `${OURS}, bytes`
const PORTABLE = `${OURS}, portable`

const CASES = [
  { size: 1024, title: '1 KB', times: 8_000, rounds: 12, limits: { [OURS]: 1.1, [BYTES]: 1.1 } },
  { size: 10 * 1024, title: '10 KB', times: 2_000, rounds: 12, limits: { [OURS]: 1.1, [BYTES]: 1.1 } },
  { size: 1024 * 1024, title: '1 MB', times: 16, rounds: 12, limits: { [BYTES]: 1.1 } },
]

/** Compares the CPU time of verifying a signature. */
export default async function (rivalIndex: number): Promise<Subject> {
  const groups: Group[] = []
  const portable = await portableBuild()
  for (const { size, ...plan } of CASES) {
    groups.push(await compare(await contestants(size, portable), rivalIndex, { ...plan, warmUp: 8 }))
  }
  return {
    title: 'Verification',
    about:
      'CPU time of verifying a valid message, as a ratio to `createHmac(…).update(body).digest()` and `timingSafeEqual`. The ' +
      'body is a Buffer in rows with “bytes”, otherwise text. “Portable” is the build for runtimes without node:crypto. The other ' +
      "packages verify their own schemes; all except octokit's also sign a timestamp.",
    measure: 'ratio',
    groups,
  }
}

type Verify = typeof verifyWebhook

async function contestants(size: number, portable: Verify): Promise<Contestant[]> {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const text = message(size)
  const bytes = Buffer.from(text)
  const digits = createHmac('sha256', secret).update(text).digest('hex')
  const prefixed = `sha256=${digits}`
  const { signature } = Stripe.webhooks
  const stripeHeader = Stripe.webhooks.generateTestHeaderString({ payload: text, secret })
  const standard = new StandardWebhook(secret)
  const svix = new SvixWebhook(secret)
  const now = new Date()
  const standardHeaders = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': `${Math.floor(now.getTime() / 1000)}`,
    'webhook-signature': standard.sign('msg_1', now, text),
  }

  const bare = (body: string | Buffer) =>
    timingSafeEqual(createHmac('sha256', secret).update(body).digest(), Buffer.from(digits, 'hex'))

  const verifiers: Record<string, () => unknown> = {
    createHmac: () => bare(text),
    'createHmac, bytes': () => bare(bytes),
    [OURS]: () => verifyWebhook(secret, text, digits),
    [BYTES]: () => verifyWebhook(secret, bytes, digits),
    [PORTABLE]: () => portable(secret, text, digits),
    stripe: () => signature?.verifyHeader(text, stripeHeader, secret, 300),
    // These two return `undefined`, and throw if the signature is wrong.
    standardwebhooks: () => standard.verify(text, standardHeaders, { jsonParse: false }) === undefined,
    svix: () => svix.verify(text, standardHeaders) === undefined,
  }
  for (const [name, verify] of Object.entries(verifiers)) {
    if (!verify()) throw new Error(`${name} rejects a valid signature`)
  }
  if (!(await octokitVerify(secret, text, prefixed))) throw new Error('octokit rejects a valid signature')

  return [
    ...Object.entries(verifiers).map(([name, verify]) => ({
      name,
      run: (times: number) => {
        for (let time = 0; time < times; time++) verify()
      },
    })),
    {
      name: 'octokit',
      run: async (times) => {
        for (let time = 0; time < times; time++) await octokitVerify(secret, text, prefixed)
      },
    },
  ]
}

/** Returns a message of about `size` bytes. */
function message(size: number): string {
  const data = { action: { id: 'a-1', name: 'Follow', type: 'social', meta: { note: '' } }, xp: 10 }
  const body = exampleActivity({ id: 'msg-1', event: { type: 'action_completed', data } })
  data.action.meta.note = 'n'.repeat(size - JSON.stringify(body).length)
  return JSON.stringify(body)
}

/** Loads the build for runtimes without node:crypto. */
async function portableBuild(): Promise<Verify> {
  const { outputFiles } = await build({
    entryPoints: [resolve('../dist/webhook.js')],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    // Ignore the paths in tsconfig.json, which point to the sources.
    tsconfigRaw: {},
    logOverride: { 'ignored-bare-import': 'silent' },
  })
  const built = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0]?.text ?? '')}`)
  return built.verifyWebhook
}

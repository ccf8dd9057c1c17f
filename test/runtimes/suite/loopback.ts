import {
  ApiError,
  CampaignClient,
  type CommonClientOptions,
  NetworkError,
  type SenderOptions,
  TimeoutError,
  UnexpectedResponseError,
  type WriteOutcome,
} from 'campaign-client'
import { equal, instance, matches, rejection } from './assertions.ts'
import type { Behaviour, Environment } from './behaviour.ts'
import { ADA, WALLET } from './local-client.ts'
import { TOKEN } from './secrets.ts'

/** How behaviours reach the loopback service. */
interface Connection {
  /** The prefix of the behaviours' names. */
  readonly over: string
  /** The service with the faults of loopback-service.ts: each connection has its own. */
  serviceUrl(environment: Environment): string
  /** Options of each client, such as the transport. */
  options(): SenderOptions
  /** The outcome of a write without a server. `fetch` cannot prove that a request was not sent. */
  readonly withoutServer: WriteOutcome
}

/** Calls over a real connection with the runtime's own `fetch`. */
export const loopback = callsOver({
  over: 'over HTTP',
  serviceUrl: (environment) => environment.serviceUrl,
  options: () => ({}),
  withoutServer: 'unknown',
})

/** Calls over a real connection. loopback-service.ts has a fault for each operation. */
export function callsOver({ over, serviceUrl, options: common, withoutServer }: Connection): readonly Behaviour[] {
  const connect = (environment: Environment, options: Partial<CommonClientOptions> = {}): CampaignClient =>
    new CampaignClient({ baseUrl: serviceUrl(environment), accessToken: TOKEN, ...common(), ...options })

  return [
    {
      name: `${over}: reads and writes Unicode text, byte by byte`,
      async run(environment) {
        const client = connect(environment)
        const name = 'Ада Лавлейс 👩‍💻'
        await client.updateUser({ ...ADA, name, team: 'analysts' })
        matches(await client.getUserProgress(ADA), { name, total: 1215 })
      },
    },
    {
      name: `${over}: renews a refused token`,
      async run(environment) {
        const answers = ['stale', TOKEN]
        const client = connect(environment, { accessToken: () => answers.shift() ?? 'too often' })
        matches(await client.getUserProgress(ADA), { total: 1215 })
      },
    },
    {
      name: `${over}: retries after 503`,
      async run(environment) {
        const statuses: number[] = []
        const client = connect(environment, { hooks: { onResponse: ({ status }) => statuses.push(status) } })
        matches(await client.getInviteCode({ code: 'WELCOME-2026', pid: 'demo' }), { used_by: ['ada', 'grace'] })
        matches(statuses, [503, 503, 200])
      },
    },
    {
      name: `${over}: ends an attempt that takes too long`,
      async run(environment) {
        const call = connect(environment, { timeoutMs: 50, maxRetries: 0 }).getCampaignPoints({ pid: 'demo' })
        matches(instance(await rejection(call), TimeoutError), { scope: 'attempt', operation: 'getCampaignPoints' })
      },
    },
    {
      name: `${over}: rejects with the caller's abort reason`,
      async run(environment) {
        const controller = new AbortController()
        const reason = { why: 'the user left' }
        const client = connect(environment, {
          hooks: { onRequest: () => setTimeout(() => controller.abort(reason), 50) },
        })
        const call = client.getCampaignPoints({ pid: 'demo' }, { signal: controller.signal })
        equal(await rejection(call), reason, 'reason')
      },
    },
    {
      name: `${over}: throws NetworkError for an incomplete answer`,
      async run(environment) {
        const call = connect(environment, { maxRetries: 0 }).getCampaignInfo({ pid: 'demo' })
        matches(instance(await rejection(call), NetworkError), { code: 'network', operation: 'getCampaignInfo' })
      },
    },
    {
      name: `${over}: retries a guarded write after a reset`,
      async run(environment) {
        await connect(environment).setReferrer({ referrer: 'ada', referral: 'hedy', platform: 'discord', pid: 'demo' })
      },
    },
    {
      name: `${over}: retries no write that would count twice after a reset`,
      async run(environment) {
        const call = connect(environment).recordActionValue({ ...ADA, cid: 'welcome', aid: 'feedback', value: 5 })
        matches(instance(await rejection(call), NetworkError), { outcome: 'unknown' })
      },
    },
    {
      name: `${over}: awards once even if the first answer is lost`,
      async run(environment) {
        const award = { address: WALLET, pid: 'demo', id: 'award-1', xp: 250 }
        const error = instance(await rejection(connect(environment).rewardWallet(award)), ApiError)
        matches(error, { status: 400, outcome: 'unknown' })
      },
    },
    {
      name: `${over}: follows no redirect`,
      async run(environment) {
        const error = await rejection(connect(environment).getUserProfiles(ADA))
        const { status } = instance(error, UnexpectedResponseError)
        equal(status, 302, 'status')
      },
    },
    {
      name: `${over}: throws NetworkError without a server`,
      async run(environment) {
        const client = connect(environment, { baseUrl: environment.closedUrl, maxRetries: 0 })
        instance(await rejection(client.getUserProgress(ADA)), NetworkError)
        const write = instance(await rejection(client.updateUser({ ...ADA, name: 'Ada' })), NetworkError)
        equal(write.outcome, withoutServer, 'outcome')
      },
    },
  ]
}

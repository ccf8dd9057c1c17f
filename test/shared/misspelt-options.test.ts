import { readdirSync, readFileSync } from 'node:fs'
import { CampaignClient, ConfigurationError } from 'campaign-client'
import { awardOne, confirmFromProgress, fileLedger, readProgress, rewardWallets } from 'campaign-client/bulk'
import { postgresLedger } from 'campaign-client/bulk/postgres'
import { nodeTransport } from 'campaign-client/node'
import { createCampaignService, createManualClock } from 'campaign-client/testing'
import { campaignHandlers } from 'campaign-client/testing/msw'
import { createWebhookReceiver, memoryStore } from 'campaign-client/webhook'
import { postgresStore } from 'campaign-client/webhook/postgres'
import { redisStore } from 'campaign-client/webhook/redis'
import { sqliteStore } from 'campaign-client/webhook/sqlite'
import { Pool } from 'pg'
import { createClient } from 'redis'
import { describe, expect, test } from 'vitest'
import { pathTo } from '../../scripts/repository.ts'

const service = createCampaignService()
const client = new CampaignClient({ baseUrl: 'https://service.example/api/v1', accessToken: 'access-token' })
const receiver = createWebhookReceiver({ endpoint: '/hook', secret: 'secret', handle: () => undefined })

/** Calls a function with an options object. */
type Call = (options: never) => unknown

const fault: Call = (options) => service.fail(options)
const event: Call = (options) => service.emit(options)
const seedWith =
  (entry: (options: object) => object): Call =>
  (options) =>
    createCampaignService({ campaigns: [{ id: 'demo', ...entry(options) }] } as never)

/**
 * Every options object of the package: the function that its errors name, the path of the object in them, a call, and the
 * options that choose the rules.
 */
const objects: readonly (readonly [where: string, at: string, call: Call, options?: object])[] = [
  ['CampaignClient', '', (options) => new CampaignClient(options)],
  ['CampaignClient', 'hooks', (hooks) => new CampaignClient({ hooks } as never)],
  ['CampaignClient', 'guard', (guard) => new CampaignClient({ guard } as never)],
  ['CampaignClient', 'limits', (limits) => new CampaignClient({ limits } as never)],
  ['CampaignClient', 'queryNames', (queryNames) => new CampaignClient({ queryNames } as never)],
  ['CampaignClient.with', '', (options) => client.with(options)],
  ['nodeTransport', '', nodeTransport],
  ['createWebhookReceiver', '', createWebhookReceiver],
  ['createWebhookReceiver', 'keepFailed', (keepFailed) => createWebhookReceiver({ keepFailed } as never)],
  ['close', '', (options) => receiver.close(options)],
  ['failed', '', (options) => receiver.failed(options)],
  ['replay', '', (options) => receiver.replay('key', options)],
  ['memoryStore', '', memoryStore],
  ['redisStore', '', (options) => redisStore(createClient(), options)],
  ['postgresStore', '', (options) => postgresStore(new Pool(), options)],
  ['sqliteStore', '', (options) => sqliteStore('unused.db', options)],
  ['fileLedger', '', (options) => fileLedger('unused.ledger', options)],
  ['fileLedger', 'rebind', (rebind) => fileLedger('unused.ledger', { rebind })],
  ['postgresLedger', '', (options) => postgresLedger(new Pool(), options)],
  ['rewardWallets', '', (options) => rewardWallets(client, [], options)],
  ['awardOne', '', (options) => awardOne(client, {} as never, options)],
  ['readProgress', '', (options) => readProgress(client, [], options)],
  ['confirmFromProgress', '', (options) => confirmFromProgress(client, options)],
  ['createCampaignService', '', createCampaignService],
  ['createCampaignService', 'tokens', (grant) => createCampaignService({ tokens: { 'the-token': grant } })],
  ['createCampaignService', 'campaigns.0', seedWith((options) => options)],
  ['createCampaignService', 'campaigns.0.actions.0', seedWith((task) => ({ actions: [task] }))],
  ['createCampaignService', 'campaigns.0.quests.0', seedWith((quest) => ({ quests: [quest] }))],
  ['createCampaignService', 'campaigns.0.challenges.0', seedWith((challenge) => ({ challenges: [challenge] }))],
  ['createCampaignService', 'campaigns.0.seasons.0', seedWith((season) => ({ seasons: [season] }))],
  ['createCampaignService', 'campaigns.0.users.0', seedWith((user) => ({ users: [user] }))],
  [
    'createCampaignService',
    'campaigns.0.users.0.profiles.0',
    seedWith((profile) => ({ users: [{ profiles: [profile] }] })),
  ],
  ['createCampaignService', 'campaigns.0.invite_codes.0', seedWith((code) => ({ invite_codes: [code] }))],
  ['createCampaignService', 'webhooks.0', (webhook) => createCampaignService({ webhooks: [webhook] })],
  ['createCampaignService', 'awards.0', (award) => createCampaignService({ awards: [award] })],
  ['createCampaignService', 'values.0', (value) => createCampaignService({ values: [value] })],
  ['reset', '', (seed) => service.reset(seed)],
  ['registerWebhook', '', (options) => service.registerWebhook(options)],
  ['listen', '', (options) => service.listen(options)],
  ['exportSeed', '', (options) => service.exportSeed(options)],
  ['completeTask', '', (options) => service.completeTask(options)],
  ['testWebhook', '', (options) => service.testWebhook(options)],
  ['createManualClock', '', createManualClock],
  ['campaignHandlers', '', (options) => campaignHandlers(service, options)],
  ...[
    'status',
    'reset',
    'hang',
    'garbage',
    'applied_then_reset',
    'truncate',
    'stall',
    'misshapen',
    'drip',
    'delay',
  ].map((kind) => ['fail', '', fault, { kind }] as const),
  ...['delay', 'duplicate', 'reorder', 'bad_signature', 'missing_field'].map(
    (kind) => ['fail on delivery', '', fault, { kind, on: 'delivery' }] as const,
  ),
  ...['action_completed', 'quest_completed', 'custom'].map((kind) => ['emit', '', event, { kind }] as const),
]

/** Returns the error of a call, thrown or rejected. */
const refusalOf = async (call: Call, options: object): Promise<ConfigurationError> =>
  Promise.resolve()
    .then(() => call(options as never))
    .then(
      () => expect.unreachable('the options were accepted'),
      (error) => error,
    )

describe.each(objects.map(([where, at, call, given]) => ({ where, at, call, given })))(
  'the options of $where $at $given.kind',
  ({ where, at, call, given = {} }) => {
    test('are named by the error for a misspelt name, which is a ConfigurationError without the value', async () => {
      const path = [...at.split('.'), 'misspelt'].filter((step) => step !== '').join('.')
      for (const value of ['s3cret', undefined]) {
        const error = await refusalOf(call, { ...given, misspelt: value })
        expect(error).toBeInstanceOf(ConfigurationError)
        expect(error.message).toMatch(new RegExp(`^${where.replace('.', '\\.')}(?: of kind \\w+)?: `))
        const [message] = error.issues.filter((issue) => issue.path.join('.') === path).map((issue) => issue.message)
        expect(message).toMatch(/^is not an option; the options are \w+/)
        expect(error.message).toContain(`${path} ${message}`)
        expect(JSON.stringify([error, error.message])).not.toContain('s3cret')
      }
    })

    test('are refused in every misspelling', async () => {
      const { issues } = await refusalOf(call, { ...given, misspelt: 1 })
      const list = issues.map(({ message }) => /; the options are (.*)$/.exec(message)?.[1]).find((each) => each) ?? ''
      const names = list.split(', ')
      expect(names).not.toEqual([''])
      const wrong = names.map((name) => `${name[0]?.toUpperCase()}${name.slice(1)}_`)
      const all = await refusalOf(call, { ...given, ...Object.fromEntries(wrong.map((name) => [name, undefined])) })
      const refused = all.issues.filter(({ message }) => message.startsWith('is not an option'))
      expect(refused.map(({ path }) => path.at(-1))).toEqual(wrong)
    })
  },
)

test('every function that reads options is in the table', () => {
  const sources = readdirSync(pathTo('src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(pathTo(`src/${file}`), 'utf8'))
  const readers = /\b(?:readOptions|readOptionsOfKind|readBySchema|readSeed|refuseOptions)\(\s*'([^']+)', (?!issuesAt)/g
  const found = new Set(sources.flatMap((source) => [...source.matchAll(readers)].map(([, where = '']) => where)))
  expect(found.size).toBeGreaterThan(20)
  expect([...found].filter((where) => !objects.some(([known]) => known === where))).toEqual([])
})

import * as root from 'campaign-client'
import * as schemas from 'campaign-client/schemas'
import * as webhook from 'campaign-client/webhook'
import { equal, instance, matches, rejection, thrown } from './assertions.ts'
import { type Behaviour, need } from './behaviour.ts'
import { ADA, createLocalClient } from './local-client.ts'
import { SECRET } from './secrets.ts'

/** The entry points of the package share their classes. */
export const entries: readonly Behaviour[] = [
  {
    name: 'all entry points export the same error classes',
    run() {
      const fromWebhook = thrown(() => webhook.parseWebhook(SECRET, '{}', null))
      const fromRoot = thrown(() => root.parseWebhook(SECRET, '{}', null))
      for (const error of [fromWebhook, fromRoot]) {
        for (const type of [root.WebhookError, webhook.WebhookError, root.CampaignError, Error]) instance(error, type)
        equal(error instanceof root.ApiError, false, 'instanceof ApiError')
      }
      equal(root.WebhookError, webhook.WebhookError, 'WebhookError')
      equal(new Error('foreign') instanceof root.CampaignError, false, 'instanceof CampaignError')
    },
  },
  {
    name: 'instanceof works across the ESM and the CommonJS copy',
    async run(environment) {
      const copy = need(environment, 'commonJs')
      equal(copy.root.CampaignError === root.CampaignError, false, 'one class')
      const { service } = createLocalClient()
      service.fail({ kind: 'status', status: 403 })
      const client = new copy.root.CampaignClient({
        baseUrl: 'https://campaign.example/api/v1',
        accessToken: 'any',
        fetch: service.fetch,
      })
      const denied = instance(await rejection(client.getUserProgress(ADA)), root.AccessDeniedError)
      instance(denied, root.ApiError)
      equal(denied instanceof root.ServiceError, false, 'instanceof ServiceError')
      instance(
        thrown(() => copy.webhook.parseWebhook(SECRET, '{}', null)),
        webhook.WebhookError,
      )
      instance(
        thrown(() => root.parseWebhook(SECRET, '{}', null)),
        copy.webhook.WebhookError,
      )
      equal(copy.webhook.signWebhook(SECRET, 'ключ'), webhook.signWebhook(SECRET, 'ключ'), 'signature')
    },
  },
  {
    name: 'the schemas convert values, keep unknown fields and report paths of issues',
    async run() {
      const { client } = createLocalClient()
      const progress = await client.getUserProgress(ADA)
      matches(schemas.userProgress.parse({ ...progress, field_of_2031: 'kept' }), {
        total: 1215,
        field_of_2031: 'kept',
      })
      const invalid = { ...progress, actions: [{ ...progress.actions[0], xp: 'fifty' }] }
      matches(schemas.userProgress.safeParse(invalid).error?.issues, [{ path: ['actions', 0, 'xp'] }])
      const [task] = (await client.getCampaignInfo({ pid: 'demo' })).actions
      matches(schemas.taskDefinition.parse({ ...task, ref_xp: '5', xp_mul: '1.5' }), { ref_xp: 5, xp_mul: 1.5 })
    },
  },
]

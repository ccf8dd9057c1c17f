/**
 * A webhook endpoint in a NestJS application: one controller.
 *
 *   npm pkg set type=module
 *   npm install tsx@4 @nestjs/common@12 @nestjs/core@12 \
 *     @nestjs/platform-express@12 reflect-metadata@0.2 rxjs@7
 *   echo '{"compilerOptions":{"experimentalDecorators":true}}' >tsconfig.json
 *   CAMPAIGN_WEBHOOK_SECRET=… npx tsx webhook-nest.ts
 *
 * The projects of the Nest CLI have this tsconfig.json.
 */
import 'reflect-metadata'
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  All,
  Controller,
  Module,
  type OnApplicationShutdown,
  Req,
  Res,
} from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { createWebhookReceiver } from 'campaign-client/webhook'

const { PORT = '3000' } = process.env

const receiver = createWebhookReceiver({
  endpoint: 'campaign',
  secret: () => process.env.CAMPAIGN_WEBHOOK_SECRET ?? '',
  async handle(event) {
    if (event.kind !== 'action_completed') return
    const { user, event: activity } = event.payload
    console.log(
      `${event.id}: ${user} earned ${activity.data.xp} XP ` +
        `for task ${activity.data.action.id}`,
    )
  },
})

@Controller('webhooks')
class CampaignWebhooks implements OnApplicationShutdown {
  @All('campaign')
  receive(
    @Req() request: IncomingMessage,
    @Res() response: ServerResponse,
  ): void | Promise<void> {
    return receiver.node(request, response)
  }

  /** Waits until running handlers have finished. */
  onApplicationShutdown(): Promise<void> {
    return receiver.close()
  }
}

@Module({ controllers: [CampaignWebhooks] })
class App {}

// With `rawBody`, Nest keeps the unparsed body, which verification needs.
const app = await NestFactory.create(App, {
  rawBody: true,
  forceCloseConnections: true,
  logger: ['error', 'warn'],
})
app.enableShutdownHooks([], { useProcessExit: true })
await app.listen(Number(PORT), '127.0.0.1')
console.log(`listening on ${await app.getUrl()}/webhooks/campaign`)

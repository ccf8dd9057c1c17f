import type { Command, Context } from '../command.ts'
import { defineListen } from './listen.ts'
import { defineDiagnose, defineVerify } from './saved-message.ts'
import { defineSend } from './send.ts'

/** `campaign-client webhook …` */
export function define(command: Command, context: Context): void {
  command
    .description('Sends, receives and checks webhook messages. The secret comes from CAMPAIGN_WEBHOOK_SECRET.')
    .examples('webhook listen', 'webhook send http://127.0.0.1:3000/webhooks/campaign --kind quest_completed')
  defineSend(command.command('send').summary('sign a message and send it to your receiver'), context)
  defineListen(command.command('listen').summary('receive, verify and show messages'), context)
  defineVerify(command.command('verify').summary('check the signature of a saved message'), context)
  defineDiagnose(command.command('diagnose').summary('explain why a signature is wrong'), context)
}

import { addCommands, type Command, type Context, type LazyCommand } from '../commands.ts'

const commands: readonly LazyCommand[] = [
  { name: 'send', summary: 'sign a message and send it to an endpoint', load: () => import('./send.ts') },
  { name: 'listen', summary: 'receive, verify and show messages', load: () => import('./listen.ts') },
  { name: 'verify', summary: 'check the signature of a saved message', load: () => import('./verify.ts') },
  { name: 'diagnose', summary: 'explain why a signature is wrong', load: () => import('./diagnose.ts') },
]

/** `campaign-client webhook …` */
export async function define(command: Command, context: Context): Promise<void> {
  command
    .description('Sends, receives and checks webhook messages. The secret comes from CAMPAIGN_WEBHOOK_SECRET.')
    .examples('webhook listen', 'webhook send http://127.0.0.1:3000/webhooks/campaign --kind quest_completed')
  await addCommands(command, commands, context)
}

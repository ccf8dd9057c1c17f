import type { Command } from 'commander'
import { addCommands, type Frame, type LazyCommand } from '../frame.ts'

const commands: readonly LazyCommand[] = [
  { name: 'send', summary: 'sign a message of any kind and send it', load: () => import('./send.ts') },
  { name: 'listen', summary: 'receive messages, verify and show them', load: () => import('./listen.ts') },
  { name: 'verify', summary: 'check the signature of a saved message', load: () => import('./verify.ts') },
  { name: 'doctor', summary: 'find out why a signature does not match', load: () => import('./doctor.ts') },
]

/** `campaign-client webhook …` */
export async function define(command: Command, frame: Frame): Promise<void> {
  command.description('Sends, receives and checks webhook messages. The secret comes from CAMPAIGN_WEBHOOK_SECRET.')
  await addCommands(command, commands, frame)
}

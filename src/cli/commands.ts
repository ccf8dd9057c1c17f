import type { LazyCommand } from './frame.ts'

/** Every command, in the order of the help. */
export const commands: readonly LazyCommand[] = [
  { name: 'dev', summary: 'run the service on this machine, with a console', load: () => import('./dev/index.ts') },
  { name: 'award', summary: 'award the wallets of a CSV, each once', load: () => import('./award/index.ts') },
  { name: 'call', summary: 'call a method of the service', load: () => import('./call.ts') },
  { name: 'webhook', summary: 'send, receive and check webhook messages', load: () => import('./webhook/index.ts') },
  { name: 'types', summary: 'write the ids of a campaign as TypeScript types', load: () => import('./types/index.ts') },
]

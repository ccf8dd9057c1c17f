import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CampaignService, CampaignServiceOptions } from 'campaign-client/testing'
import { type Ended, type Running, type RunOptions, run, scratchFolder, start, startAtTerminal } from '../command.ts'
import { listeningService } from '../service.ts'

export const wallet = (number: number): string => `0x${number.toString(16).padStart(40, '0')}`

/** A list of awards that differ in wallet and XP, as a CSV. */
export const listOf = (count: number, reason = 'launch party'): string =>
  [
    'address,xp,reason',
    ...Array.from({ length: count }, (_, index) => `${wallet(index + 1)},${index + 1},${reason}`),
    '',
  ].join('\n')

export interface Scene {
  readonly service: CampaignService
  readonly folder: string
  readonly env: Record<string, string>
  /** Writes a file of the folder and gives its path. */
  file(name: string, content: string | Uint8Array): string
  /** Runs `award` in the folder. */
  award(args: readonly string[], options?: RunOptions): Promise<Ended>
  start(args: readonly string[], options?: RunOptions): Promise<Running>
  atTerminal(args: readonly string[], options?: RunOptions): Promise<Running>
  /** Awards that the service has made, as `address xp`. */
  made(): string[]
}

/** A service on a port, and a folder with lists for it. */
export async function scene(options?: CampaignServiceOptions): Promise<Scene> {
  const { service, env } = await listeningService(options)
  const folder = scratchFolder()
  const within = (given: RunOptions = {}): RunOptions => ({ cwd: folder, ...given, env: { ...env, ...given.env } })
  return {
    service,
    folder,
    env,
    file(name, content) {
      const path = join(folder, name)
      writeFileSync(path, content)
      return path
    },
    award: (args, given) => run(['award', ...args], within(given)),
    start: (args, given) => start(['award', ...args], within(given)),
    atTerminal: (args, given) => startAtTerminal(['award', ...args], within(given)),
    made: () => service.state.awards.map(({ address, xp }) => `${address} ${xp}`),
  }
}

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CampaignService, CampaignServiceOptions } from 'campaign-client/testing'
import {
  type Ended,
  type ProcessOptions,
  type Running,
  type RunningProcess,
  type RunOptions,
  run,
  runProcess,
  scratchFolder,
  start,
  startAtTerminal,
  startProcess,
} from '../command.ts'
import { listeningService } from '../service.ts'

export const wallet = (number: number): string => `0x${number.toString(16).padStart(40, '0')}`

/** Returns a CSV list of awards with different wallets and XP. */
export const listOf = (count: number, reason = 'launch party'): string =>
  [
    'address,xp,reason',
    ...Array.from({ length: count }, (_, index) => `${wallet(index + 1)},${index + 1},${reason}`),
    '',
  ].join('\n')

export interface Setting {
  readonly service: CampaignService
  readonly folder: string
  readonly env: Record<string, string>
  /** Writes a file in the folder. Returns its path. */
  file(name: string, content: string | Uint8Array): string
  /** Runs `award` in the folder. */
  award(args: readonly string[], options?: RunOptions): Promise<Ended>
  /** Runs `award` in the folder, in a process of its own. */
  awardProcess(args: readonly string[], options?: ProcessOptions): Promise<Ended>
  /** Starts `award` in the folder. */
  start(args: readonly string[], options?: RunOptions): Running
  startProcess(args: readonly string[], options?: ProcessOptions): Promise<RunningProcess>
  atTerminal(args: readonly string[], options?: ProcessOptions): Promise<RunningProcess>
  /** Returns the awards of the service, as `address xp`. */
  made(): string[]
}

/** Starts a service, and writes a list of awards, `party.csv`. */
export async function withParty(awards: number, options?: CampaignServiceOptions): Promise<Setting> {
  const setting = await setUp(options)
  setting.file('party.csv', listOf(awards))
  return setting
}

/** Starts a service on a port, and creates a folder for lists. */
export async function setUp(options?: CampaignServiceOptions): Promise<Setting> {
  const { service, env } = await listeningService(options)
  const folder = scratchFolder()
  const within = <Given extends RunOptions>(given?: Given) => ({
    cwd: folder,
    ...given,
    env: { ...env, ...given?.env },
  })
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
    awardProcess: (args, given) => runProcess(['award', ...args], within(given)),
    start: (args, given) => start(['award', ...args], within(given)),
    startProcess: (args, given) => startProcess(['award', ...args], within(given)),
    atTerminal: (args, given) => startAtTerminal(['award', ...args], within(given)),
    made: () => service.state.awards.map(({ address, xp }) => `${address} ${xp}`),
  }
}

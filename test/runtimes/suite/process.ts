import { awards } from './awards.ts'
import type { Behaviour, Environment, Outcome } from './behaviour.ts'
import { command } from './command.ts'
import { run as runPortable } from './index.ts'
import { nodeTransports } from './node-transport.ts'
import { sqlite } from './sqlite.ts'

const behaviours: readonly Behaviour[] = [...nodeTransports, ...awards, ...sqlite, ...command]

/** Runs all behaviours, with those that need the file system, sockets or child processes. */
export const run = (environment: Environment): Promise<Outcome[]> => runPortable(environment, behaviours)

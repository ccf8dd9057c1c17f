import { execFileSync } from 'node:child_process'
import { AwardJobs, AwardList, makeCalls } from './awards.ts'
import { Events } from './events.ts'
import { Scene } from './partners.ts'
import { World } from './world.ts'

/** `awards`: lists, jobs and single calls. `events`: webhooks. `all`: both, and handlers that make awards. */
export const WORLDS = ['awards', 'events', 'all'] as const
export type WorldName = (typeof WORLDS)[number]

/** Simulates one world. The same seed gives the same log. */
export async function simulate(seed: number, name: WorldName): Promise<World> {
  const world = new World(seed)
  const scene = new Scene(world)
  try {
    await world.run(() => play(scene, name))
  } finally {
    scene.end()
  }
  return world
}

async function play(scene: Scene, name: WorldName): Promise<void> {
  const { random } = scene.world
  const work: Promise<void>[] = [scene.weather()]
  if (name !== 'events') {
    for (let n = random.int(0, 2); n > 0; n--) work.push(new AwardList(scene, `list${n}`).send())
    if (random.chance(0.4)) work.push(new AwardJobs(scene, 'jobs').work())
    for (let n = random.int(0, 2); n > 0; n--) work.push(makeCalls(scene, `caller${n}`))
  }
  let isDone = false
  const awards = Promise.all(work).then(() => {
    isDone = true
  })
  if (name === 'awards') return awards
  // Made by the processes `receiver N`.
  const bonuses = new AwardJobs(scene, 'receiver', 0, 'shared')
  const events = new Events(scene, name === 'all' ? bonuses : undefined)
  await Promise.all([awards, events.deliver(() => isDone)])
  bonuses.check()
}

/** Describes a world that broke an invariant: the seed, the commit, the command that replays it, and its last events. */
export function describeViolation({ seed, violation, log }: World, name: WorldName): string {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  const command = `npm run simulate -- --seed ${seed} --world ${name}`
  return [`seed ${seed} at commit ${commit}: ${violation}`, `replay: ${command}`, ...log.slice(-50)].join('\n')
}

/** What was simulated, summed over worlds. */
export class Totals {
  seeds = 0
  hours = 0
  requests = 0
  messages = 0
  crashes = 0

  add({ now, requests, messages, crashes }: World): void {
    this.seeds++
    this.hours += now / 3_600_000
    this.requests += requests
    this.messages += messages
    this.crashes += crashes
  }

  toString(): string {
    const { seeds, hours, requests, messages, crashes } = this
    return `${seeds} seeds, ${Math.round(hours)} simulated hours, ${requests} requests, ${messages} attempts at messages, ${crashes} crashes`
  }
}

import { AwardJobs, AwardList } from './awards.ts'
import { Events } from './events.ts'
import type { Fault } from './network.ts'
import { Scene } from './partners.ts'
import { World } from './world.ts'

/** What happens to the request of the award that crashes. */
export const AWARD_FAULTS: readonly (Fault | undefined)[] = [
  undefined,
  'lost, applied',
  'late, applied',
  '503, applied',
  '429',
  '401',
]

/** How the award is made: by a run over a file, or by `awardOne`. */
export const AWARD_WAYS = ['run', 'file', 'shared', 'none'] as const
export type AwardWay = (typeof AWARD_WAYS)[number]

/** The result of one enumerated crash. */
export interface CrashedWorld {
  readonly world: World
  /** Whether the process had ended before the point of the crash. */
  readonly wasSpared: boolean
}

/** Kills the process of an award at a point, and makes the award again. */
export async function crashAward(
  way: AwardWay,
  point: number,
  fault: Fault | undefined,
  seed: number,
): Promise<CrashedWorld> {
  return crashed(seed, async (scene) => {
    const { world } = scene
    if (fault !== undefined) scene.network.nextFaults.push(fault)
    if (way === 'run') {
      const list = new AwardList(scene, 'list', 1, 'file')
      await list.run(false, { diesAt: point })
      const { crashes } = world
      await world.sleep(700_000)
      await list.run(true)
      world.require(await list.run(true), () => 'the list is not complete after two runs without a fault')
      return crashes
    }
    const jobs = new AwardJobs(scene, 'jobs', 1, way)
    await jobs.attempt(point)
    const { crashes } = world
    // The lease of the process that died ends.
    await world.sleep(700_000)
    await jobs.work()
    return crashes
  })
}

/** Interrupts a run at a point, and continues it. @returns the points that the interrupted run had */
export async function interruptAwards(
  point: number,
  fault: Fault | undefined,
  seed: number,
): Promise<{ readonly world: World; readonly points: number }> {
  let points = 0
  const { world } = await crashed(seed, async (scene) => {
    const list = new AwardList(scene, 'list', 3, 'file')
    if (fault !== undefined) scene.network.nextFaults.push(fault)
    await list.run(false, { interruptedAt: point, diesAt: Number.POSITIVE_INFINITY })
    points = list.points
    await scene.world.sleep(700_000)
    await list.run(true)
    scene.world.require(await list.run(true), () => 'the list is not complete after two runs without a fault')
    return 0
  })
  return { world, points }
}

/** Kills a receiver at a point while it handles a message, and starts another one. */
export async function crashMessage(point: number, seed: number): Promise<CrashedWorld> {
  return crashed(seed, async (scene) => new Events(scene).deliverOne(point))
}

async function crashed(seed: number, work: (scene: Scene) => Promise<number>): Promise<CrashedWorld> {
  const world = new World(seed)
  const scene = new Scene(world)
  scene.network.isCalm = true
  let crashes = 0
  try {
    await world.run(async () => {
      crashes = await work(scene)
    })
  } finally {
    scene.end()
  }
  return { world, wasSpared: crashes === 0 }
}

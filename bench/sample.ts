import type { UserProgress } from 'campaign-client'

const NAMES = ['Follow the project', 'Join the community', 'Invite a friend', 'Make a first swap', 'Vote on a proposal']

/** Returns a user's progress with this number of tasks. 5 tasks are about 1 KB, 1 000 about 200 KB. */
export function progressWith(tasks: number): UserProgress {
  const actions = Array.from({ length: tasks }, (_, index) => ({
    id: `6c1f8a52-0d3e-4b7a-9c41-${String(index).padStart(12, '0')}`,
    name: `${NAMES[index % NAMES.length]}, week ${index} of the season`,
    xp: 50 + (index % 10) * 25,
    xp_mul: 1 + (index % 3) / 2,
    meta: { icon: `https://cdn.example/tasks/${index}.svg`, order: index },
    status: index % 4 === 0 ? 'completed' : 'none',
  }))
  return {
    ...{ id: 'entry-1', user_id: 'ada', name: 'Ada', actions, quests: [], challenges: [], rewards: [] },
    ...{ total: 1215, xp: 1000, ref_xp: 200, ugc_xp: 15, xp_mul: 1, rank: 1, team: '' },
  }
}

/** Returns the body of a response with {@link progressWith}. */
export const responseWith = (tasks: number): string => JSON.stringify({ success: true, data: progressWith(tasks) })

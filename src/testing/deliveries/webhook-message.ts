import { type Campaign, type Entry, totalXp } from '../world/campaign.ts'
import type { Quest, Task } from '../world/campaign-definition.ts'
import type { UserEvent } from '../world/complete-task.ts'
import type { Identifiers } from '../world/identifiers.ts'
import type { MessageAddress } from './webhook-registry.ts'

/** A message before it has an ID. */
export interface Draft {
  readonly address: MessageAddress
  readonly payload: Readonly<Record<string, unknown>>
}

/** The only scope that the interface shows. */
export const USER_ACTIVITY = 'user_activity'

/**
 * The message of an event. Interface: [Message](/the-service#message).
 *
 * Assumed, because the interface does not show it: a quest stands in the place of the task, with the type `quest`; a
 * reward is a `user_activity` of type `reward_claimed`, because the interface lists claiming a reward as an activity.
 */
export function draftMessage(event: UserEvent): Draft {
  return userActivity(event.campaign, event.entry, eventOf(event))
}

/** Returns the message of the panel's Test button, which has fields that other messages do not have. */
export function draftTestMessage(campaign: Campaign, entry: Entry, account: string): Draft {
  const [task] = campaign.definition.tasks.values()
  const action = { ...describe(task ?? { id: 'test', name: 'Test', type: 'test' }), meta: task?.meta ?? {} }
  const draft = userActivity(campaign, entry, {
    type: 'action_completed',
    data: { action, account, xp: task?.xp ?? 0 },
  })
  return { ...draft, payload: { ...draft.payload, user_id: account } }
}

function userActivity(campaign: Campaign, entry: Entry, event: unknown): Draft {
  const { id, name, organization } = campaign.definition
  return {
    address: { scope: USER_ACTIVITY, pid: id, organization },
    payload: {
      scope: USER_ACTIVITY,
      user: entry.user.account,
      wallet: entry.user.wallet,
      email: entry.user.email,
      campaign: { id, name },
      event,
      total_xp: totalXp(entry),
      ref_xp: entry.ref_xp,
      ugc_xp: entry.ugc_xp,
      xp_mul: entry.xp_mul,
      rank: campaign.rank(entry),
      team: entry.team,
    },
  }
}

function eventOf(event: UserEvent): unknown {
  switch (event.kind) {
    case 'action_completed':
      return { type: event.kind, data: { action: describe(event.item), xp: event.xp } }
    case 'quest_completed':
      return { type: event.kind, data: { action: describe({ ...event.item, type: 'quest' }), xp: event.xp } }
    case 'reward_claimed':
      return {
        type: event.kind,
        data: { reward: { id: event.award.id, type: 'xp' }, account: event.account, xp: event.award.xp },
      }
  }
}

const describe = ({ id, name, type }: Pick<Task | (Quest & { type: string }), 'id' | 'name' | 'type'>) => ({
  id,
  name,
  type,
})

/** Adds an ID and serialises the message, once for all endpoints. A payload keeps its own `id`, even an unusable one. */
export function sealMessage({ payload }: Draft, ids: Identifiers): { id: string; body: string } {
  const id = ids.next('message')
  const sealed: Record<string, unknown> = { id, ...payload }
  return { id: typeof sealed.id === 'string' ? sealed.id : id, body: JSON.stringify(sealed) }
}

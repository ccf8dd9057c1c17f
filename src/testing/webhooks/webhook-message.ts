import { signWebhook } from '../../webhook/index.ts'
import { type Campaign, type Entry, totalXp } from '../state/campaign.ts'
import type { Quest, Task } from '../state/campaign-definition.ts'
import type { IdGenerator } from '../state/id-generator.ts'
import type { UserEvent } from '../state/user-event.ts'
import type { MessageTarget, Webhook } from './webhook-registry.ts'

/** A message without an ID. */
export interface MessageDraft {
  readonly target: MessageTarget
  readonly payload: Readonly<Record<string, unknown>>
}

/** The only scope that the API description shows. */
export const USER_ACTIVITY = 'user_activity'

/**
 * Returns the message of an event. See "Message" in docs/the-service.md.
 *
 * The API description does not show the messages of quests and rewards. Assumed: a quest has `action.type` `quest`; a reward has
 * the scope `user_activity`, because the API description lists claiming a reward as an activity.
 */
export function draftMessage(event: UserEvent): MessageDraft {
  return userActivity(event.campaign, event.entry, eventOf(event))
}

/** Returns the message of the admin panel's Test button, which has additional fields. */
export function draftTestMessage(campaign: Campaign, entry: Entry, account: string): MessageDraft {
  const [task] = campaign.definition.tasks.values()
  const action = { ...describe(task ?? { id: 'test', name: 'Test', type: 'test' }), meta: task?.meta ?? {} }
  const draft = userActivity(campaign, entry, {
    type: 'action_completed',
    data: { action, account, xp: task?.xp ?? 0 },
  })
  return { ...draft, payload: { ...draft.payload, user_id: account } }
}

function userActivity(campaign: Campaign, entry: Entry, event: unknown): MessageDraft {
  const { id, name, organization } = campaign.definition
  return {
    target: { scope: USER_ACTIVITY, pid: id, organization },
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

/** Adds an ID and serialises the message. An `id` in the payload is kept, even if it is not a string. */
export function serializeMessage({ payload }: MessageDraft, ids: IdGenerator): { id: string; body: string } {
  const id = ids.next('message')
  const message: Record<string, unknown> = { id, ...payload }
  return { id: typeof message.id === 'string' ? message.id : id, body: JSON.stringify(message) }
}

/**
 * Returns the signature of a payload, or `undefined` for a webhook without a secret.
 * See "Signature" in docs/the-service.md.
 */
export const signatureOf = ({ secret }: Webhook, body: string): string | undefined =>
  secret === undefined ? undefined : signWebhook(secret, body)

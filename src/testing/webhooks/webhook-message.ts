import { signWebhook } from '../../webhook/index.ts'
import { type Entry, earnedXp, totalXp } from '../state/campaign.ts'
import type { IdGenerator } from '../state/id-generator.ts'
import type { UserEvent } from '../state/service-state.ts'
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
export const draftMessage = (event: UserEvent): MessageDraft =>
  userActivity(event.entry, { type: event.kind, data: dataOf(event) })

/** Returns the message of the admin panel's Test button, which has additional fields. */
export function draftTestMessage(entry: Entry, account: string): MessageDraft {
  const [task] = entry.campaign.definition.tasks.values()
  const action = { ...actionOf(task ?? { id: 'test', name: 'Test', type: 'test' }), meta: task?.meta ?? {} }
  const data = { action, account, xp: task ? earnedXp(task, entry) : 0 }
  const { target, payload } = userActivity(entry, { type: 'action_completed', data })
  return { target, payload: { ...payload, user_id: account } }
}

function userActivity(entry: Entry, event: { readonly type: string; readonly data: object }): MessageDraft {
  const { campaign, user } = entry
  const { id, name, organization } = campaign.definition
  return {
    target: { scope: USER_ACTIVITY, pid: id, organization },
    payload: {
      scope: USER_ACTIVITY,
      user: user.account,
      wallet: user.wallet,
      email: user.email,
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

function dataOf(event: UserEvent): object {
  switch (event.kind) {
    case 'action_completed':
      return { action: actionOf(event.item), xp: event.xp }
    case 'quest_completed':
      return { action: actionOf({ ...event.item, type: 'quest' }), xp: event.xp }
    case 'reward_claimed':
      return { reward: { id: event.award.id, type: 'xp' }, account: event.account, xp: event.award.xp }
  }
}

const actionOf = ({ id, name, type }: { id: string; name: string; type: string }) => ({ id, name, type })

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

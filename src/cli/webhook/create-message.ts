import { createCampaignService } from 'campaign-client/testing'
import { tryParseJson } from '../../shared/text/json.ts'
import { usageFailure } from '../failure.ts'
import type { Pair } from '../flags.ts'

/** A user and a campaign in the demo data of the local service. */
const SUBJECT = { account: 'ada', platform: 'discord', pid: 'demo' } as const

/**
 * Creates a message of each kind. The payloads of `user_login`, `user_reward` and `referral` are assumed: the interface
 * does not document them.
 */
const CREATORS = {
  action_completed: () => emitted({ kind: 'action_completed', aid: 'follow' }),
  quest_completed: () => emitted({ kind: 'quest_completed', cid: 'welcome' }),
  test: testMessage,
  user_login: () => assumed('user_login', { type: 'login', data: { account: SUBJECT.account } }),
  user_reward: () =>
    assumed('user_reward', { type: 'reward_claimed', data: { reward: { id: 'reward-1', type: 'xp' }, xp: 50 } }),
  referral: () => assumed('referral', { type: 'referral', data: { referral: 'grace', referrer: SUBJECT.account } }),
} satisfies Record<string, () => Message | Promise<Message>>

export type MessageKind = keyof typeof CREATORS
type Message = Record<string, unknown>

export const MESSAGE_KINDS = Object.keys(CREATORS) as readonly MessageKind[]

/** Returns whether the interface documents the payload of this kind. */
export const isDocumented = (kind: MessageKind): boolean =>
  kind === 'action_completed' || kind === 'quest_completed' || kind === 'test'

/** Creates a message with a new `id`. */
export const createMessage = async (kind: MessageKind): Promise<Message> => CREATORS[kind]()

/** Sets fields by path, for example `event.data.xp`. A value that is not JSON is a string. */
export function setFields(message: Message, changes: readonly Pair[]): void {
  for (const [path, value] of changes) {
    const steps = path.split('.')
    const last = steps.pop() as string
    let target = message
    for (const step of steps) {
      const next: unknown = Object.hasOwn(target, step) ? target[step] : undefined
      if (typeof next !== 'object' || next === null) throw usageFailure(`--set: the message has no object at "${path}"`)
      target = next as Message
    }
    Object.defineProperty(target, last, {
      value: tryParseJson(value, value),
      enumerable: true,
      writable: true,
      configurable: true,
    })
  }
}

function emitted(event: { kind: 'action_completed'; aid: string } | { kind: 'quest_completed'; cid: string }): Message {
  return JSON.parse(createCampaignService().emit({ ...SUBJECT, ...event }).body)
}

async function testMessage(): Promise<Message> {
  const service = createCampaignService({ deliver: () => new Response() })
  service.registerWebhook({ url: 'http://127.0.0.1/' })
  return JSON.parse((await service.testWebhook(SUBJECT)).Payload)
}

/** Creates a message with an assumed scope and event. */
function assumed(scope: string, event: unknown): Message {
  return { ...emitted({ kind: 'action_completed', aid: 'follow' }), scope, event }
}

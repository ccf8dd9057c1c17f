import { createCampaignService } from 'campaign-client/testing'
import { usageFailure } from '../failure.ts'
import type { Pair } from '../flags.ts'

/** The user and the campaign of the messages, from the demo data of the local service. */
const SUBJECT = { account: 'ada', platform: 'discord', pid: 'demo' } as const

/**
 * Makes a message of each kind that the interface names. It does not show the payloads of the login, reward and
 * referral hooks: these are assumed.
 */
const MAKERS = {
  action_completed: () => emitted({ kind: 'action_completed', aid: 'follow' }),
  quest_completed: () => emitted({ kind: 'quest_completed', cid: 'welcome' }),
  test: testMessage,
  user_login: () => assumed('user_login', { type: 'login', data: { account: SUBJECT.account } }),
  user_reward: () =>
    assumed('user_reward', { type: 'reward_claimed', data: { reward: { id: 'reward-1', type: 'xp' }, xp: 50 } }),
  referral: () => assumed('referral', { type: 'referral', data: { referral: 'grace', referrer: SUBJECT.account } }),
} satisfies Record<string, () => Message | Promise<Message>>

export type MessageKind = keyof typeof MAKERS
type Message = Record<string, unknown>

export const MESSAGE_KINDS = Object.keys(MAKERS) as readonly MessageKind[]

/** Whether the interface shows the payload of this kind. */
export const isShown = (kind: MessageKind): boolean =>
  kind === 'action_completed' || kind === 'quest_completed' || kind === 'test'

/** Makes a message with a new `id`. */
export const createMessage = async (kind: MessageKind): Promise<Message> => MAKERS[kind]()

/** Sets fields of a message by path, such as `event.data.xp`. A value is parsed as JSON, or taken as text. */
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
      value: jsonOrText(value),
      enumerable: true,
      writable: true,
      configurable: true,
    })
  }
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
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

/** Makes a message with the fields of a shown one, and an assumed scope and event. */
function assumed(scope: string, event: unknown): Message {
  return { ...emitted({ kind: 'action_completed', aid: 'follow' }), scope, event }
}

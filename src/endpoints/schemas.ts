/**
 * The zod schemas of all resources, requests and webhook messages, for example to validate stored data. A schema has the
 * name of its type in lower camel case: `userProgress` is the schema of `UserProgress`.
 *
 * @module campaign-client/schemas
 */

import * as z from 'zod/mini'
import { readUserActivity, type UserActivity } from '../schemas/read-user-activity.ts'
import { isRecord } from '../shared/type-checks.ts'

export { type AcceptedData, acceptedData, type Metadata, type OpenString } from '../schemas/fields.ts'
export * from './get-campaign-info.ts'
export * from './get-campaign-points.ts'
export * from './get-invite-code.ts'
export * from './get-user-profiles.ts'
export * from './get-user-progress.ts'
export * from './record-action-value.ts'
export * from './register-webhook.ts'
export * from './reward-wallet.ts'
export * from './set-referrer.ts'
export * from './set-referrer-by-ref-id.ts'
export * from './update-user.ts'

/**
 * Schema of the webhook message `UserActivity`, for stored messages. It reads a message as `parseWebhook` does: it accepts
 * the same messages and returns the same payload. To check that a message comes from the service, use `verifyWebhook`.
 *
 * See "Message" in docs/the-service.md.
 */
export const userActivity: z.ZodMiniType<UserActivity, unknown> = z.pipe(
  z.unknown(),
  z.transform((message, { issues }): UserActivity => {
    const fail = (path: readonly (string | number)[], text: string): void =>
      void issues.push({ code: 'custom', path: [...path], message: text, input: message })
    if (!isRecord(message)) fail([], 'expected object')
    else if (typeof message.id !== 'string' || message.id === '') fail(['id'], 'expected a non-empty string')
    else {
      const { activity, scope, ...read } = readUserActivity(message as { id: string })
      if (activity) return activity
      for (const issue of read.issues) fail(issue.path, issue.message)
      if (read.issues.length === 0) {
        const path = scope === 'user_activity' ? ['event', 'type'] : ['scope']
        fail(path, 'undocumented value')
      }
    }
    return z.NEVER
  }),
)

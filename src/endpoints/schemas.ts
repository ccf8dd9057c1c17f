/**
 * The zod schemas of all resources, requests and webhook messages, for example to validate stored data. A schema has the
 * name of its type in lower camel case: `userProgress` is the schema of `UserProgress`.
 *
 * @module campaign-client/schemas
 */
export { type AcceptedData, acceptedData, type Metadata, type OpenString } from '../schemas/fields.ts'
export * from '../schemas/user-activity-schema.ts'

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

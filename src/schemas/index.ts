/**
 * The zod schemas of every resource, request and webhook message, for partners who store or re-validate the data.
 * Each has the name of its type in lower camel case: `userProgress` reads a `UserProgress`.
 *
 * @module campaign-client/schemas
 */
export * from './accepted.ts'
export * from './campaign-info.ts'
export * from './campaign-points.ts'
export type { Metadata, OpenString } from './fields.ts'
export * from './invite-code.ts'
export * from './requests.ts'
export * from './user-activity.ts'
export * from './user-profiles.ts'
export * from './user-progress.ts'
export * from './webhook-registration.ts'

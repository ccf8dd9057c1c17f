/**
 * The zod schemas of every resource, request and webhook message, for partners who store or re-validate the data.
 * Each has the name of its type in lower camel case: `userProgress` reads a `UserProgress`.
 *
 * @module campaign-client/schemas
 */
export * from '../schemas/accepted-data.ts'
export type { Metadata, OpenString } from '../schemas/fields.ts'
export * from '../schemas/user-activity.ts'
export * from './operations.ts'

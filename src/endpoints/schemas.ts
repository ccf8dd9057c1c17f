/**
 * The zod schemas of all resources, requests and webhook messages, for example to validate stored data. A schema has the
 * name of its type in lower camel case: `userProgress` is the schema of `UserProgress`.
 *
 * @module campaign-client/schemas
 */
export * from '../schemas/accepted-write.ts'
export type { Metadata, OpenString } from '../schemas/fields.ts'
export * from '../schemas/user-activity.ts'
export * from './operations.ts'

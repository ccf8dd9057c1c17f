import * as z from 'zod/mini'

/** The `data` of an accepted write: an empty object today, whose fields the interface does not show. */
export type AcceptedData = Record<string, unknown>

/** Schema of {@link AcceptedData}. */
export const acceptedData = z.looseObject({})

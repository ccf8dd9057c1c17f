import * as z from 'zod/mini'

/** The `data` of an accepted write. The API description shows an empty object. */
export type AcceptedData = Record<string, unknown>

/** Schema of {@link AcceptedData}. */
export const acceptedData = z.looseObject({})

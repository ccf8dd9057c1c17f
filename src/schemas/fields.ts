import * as z from 'zod/mini'
import { DECIMAL, isWellFormed, type OpenString } from '../shared/text.ts'

export type { OpenString } from '../shared/text.ts'

/** Metadata of a task, quest or challenge. The campaign's owner defines its fields. */
export type Metadata = Record<string, unknown>

/** An identifier in a request: any well-formed string that is not empty. */
export const identifier = z
  .string()
  .check(z.minLength(1, 'must not be empty'), z.refine(isWellFormed, 'must not contain a lone surrogate'))

/** An identifier with known values. The type lists the values; the schema accepts any identifier. */
export const openIdentifier = <Type extends OpenString<string>>() =>
  identifier as unknown as z.ZodMiniType<Type, string>

/** The fields that identify a user of a campaign. */
export const user = { account: identifier, platform: identifier, pid: identifier }

/** A number in a request. NaN and the infinities are refused, because JSON would turn them into null. */
export const finiteNumber = z.number()

/** A string with known values. The type lists the values; the schema accepts any string. */
export const openString = <Type extends OpenString<string>>() => z.string() as unknown as z.ZodMiniType<Type, string>

/** Whether a value is an object or null. */
export const isMetadata = (value: unknown): boolean => typeof value === 'object' && !Array.isArray(value)

// `z.record` copies every key, which takes longer than checking all other fields of a task.
export const presentMetadata = z.custom<Metadata | null>(isMetadata, 'expected an object or null')
export const metadata = z.optional(presentMetadata)

/** A number, or a numeric string that is converted to a number. */
export const numericString = z.union([
  z.number(),
  z.pipe(
    z.string().check(z.regex(DECIMAL, 'expected a number or a numeric string')),
    z.pipe(
      z.transform((text: string) => Number(text)),
      z.number(),
    ),
  ),
])

/** The `data` of an accepted write. The API description shows an empty object. */
export type AcceptedData = Record<string, unknown>

/** Schema of {@link AcceptedData}. */
export const acceptedData = z.looseObject({})

import * as z from 'zod/mini'
import { isWellFormed } from '../shared/text/well-formed.ts'

/** Known literals that autocomplete, or any other string the service may send one day. */
export type OpenString<Known extends string> = Known | (string & Record<never, never>)

/** Metadata of a task, quest or challenge: whatever the campaign's owner put there. */
export type Metadata = Record<string, unknown>

/** An identifier in a request: any well-formed string but the empty one. */
export const identifier = z
  .string()
  .check(z.minLength(1, 'must not be empty'), z.refine(isWellFormed, 'must not hold half a surrogate pair'))

/** An identifier some of whose values are known. */
export const openIdentifier = <Type extends OpenString<string>>() =>
  identifier as unknown as z.ZodMiniType<Type, string>

/** The user of a campaign whom a request is about. */
export const user = { account: identifier, platform: identifier, pid: identifier }

/** A number in a request. NaN and the infinities are refused, because JSON would turn them into null. */
export const finiteNumber = z.number()

/** Which strings are known is a matter of the type: one that is not is read like any other. */
export const openString = <Type extends OpenString<string>>() => z.string() as unknown as z.ZodMiniType<Type, string>

/** Whether a value may be metadata; absence is told by the schema. */
export const isMetadata = (value: unknown): boolean => typeof value === 'object' && !Array.isArray(value)

// A check of our own instead of a record of unknowns: the record copies every key and is most of a task's cost.
export const presentMetadata = z.custom<Metadata | null>(isMetadata, 'expected an object or null')
export const metadata = z.optional(presentMetadata)

/** The numeric strings that become numbers. */
export const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

/** A number that the interface shows as a numeric string. Both forms are read, and the number is what you get. */
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

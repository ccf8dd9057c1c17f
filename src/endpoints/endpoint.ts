import type { $ZodType } from 'zod/v4/core'
import type { CompiledCheck } from '../schemas/check.ts'

/**
 * What a retry of a call does.
 * - `safe`: the same final state, however often.
 * - `guarded`: the service itself refuses to do it twice.
 * - `unsafe`: it would count twice.
 */
export type RetryRule = 'safe' | 'guarded' | 'unsafe'

/** One operation of the service. */
export interface Endpoint<Request = unknown, Data = unknown> {
  readonly method: 'GET' | 'POST'
  /** Path below the base URL. `undefined` where the interface shows none. */
  readonly path: string | undefined
  readonly request: $ZodType<Request>
  /** Shape of the envelope's `data`; `undefined` where the answer carries none, `'any'` where it is not shown. */
  readonly response: $ZodType<Data, unknown> | 'any' | undefined
  /** Says what fits `response` many times faster, for answers that grow with a campaign. */
  readonly fitsResponse?: CompiledCheck
  readonly retry: RetryRule
  /** The arguments whose query names the interface leaves open. Their own names are assumed, and may be renamed. */
  readonly assumedQueryNames?: readonly string[]
}

/** An operation whose query names the interface leaves open. */
export interface OpenQueryEndpoint<Request = unknown, Data = unknown> extends Endpoint<Request, Data> {
  readonly assumedQueryNames: readonly Extract<keyof Request, string>[]
}

/** Describes an operation whose query or body the interface shows. */
export const endpoint = <Request, Data>(
  definition: Endpoint<Request, Data> & { readonly assumedQueryNames?: undefined },
): Endpoint<Request, Data> => definition

/** Describes an operation whose query names the interface leaves open. */
export const openQueryEndpoint = <Request, Data>(
  definition: OpenQueryEndpoint<Request, Data>,
): OpenQueryEndpoint<Request, Data> => definition

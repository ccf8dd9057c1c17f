import type { $ZodType } from 'zod/v4/core'
import type { CompiledCheck } from '../schemas/validate.ts'

/**
 * The effect of a retry.
 * - `safe`: the final state is the same.
 * - `guarded`: the service refuses the second request.
 * - `unsafe`: the second request would count again.
 */
export type RetryRule = 'safe' | 'guarded' | 'unsafe'

/** One operation of the service. */
export interface Endpoint<Request = unknown, Data = unknown> {
  readonly method: 'GET' | 'POST'
  /** Path relative to the base URL. `undefined` if the interface does not show it. */
  readonly path: string | undefined
  readonly request: $ZodType<Request>
  /** Schema of the answer's `data`. `undefined` if there is none, `'any'` if the interface does not show it. */
  readonly response: $ZodType<Data, unknown> | 'any' | undefined
  /** A faster check of the same data, for large answers. */
  readonly fitsResponse?: CompiledCheck
  readonly retry: RetryRule
  /** Arguments whose query names the interface does not show. By default, the query names are the argument names. */
  readonly assumedQueryNames?: readonly string[]
}

/** An operation whose query names the interface does not show. */
export interface OpenQueryEndpoint<Request = unknown, Data = unknown> extends Endpoint<Request, Data> {
  readonly assumedQueryNames: readonly Extract<keyof Request, string>[]
}

/** Defines an operation without assumed query names. */
export const endpoint = <Request, Data>(
  definition: Endpoint<Request, Data> & { readonly assumedQueryNames?: undefined },
): Endpoint<Request, Data> => definition

/** Defines an operation whose query names the interface does not show. */
export const openQueryEndpoint = <Request, Data>(
  definition: OpenQueryEndpoint<Request, Data>,
): OpenQueryEndpoint<Request, Data> => definition

import type { $ZodType } from 'zod/v4/core'
import type { CompiledCheck } from '../schemas/validate.ts'

/**
 * The effect of a retry.
 * - `safe`: the final state is the same.
 * - `guarded`: the service refuses to apply it twice.
 * - `unsafe`: it would count twice.
 */
export type RetryRule = 'safe' | 'guarded' | 'unsafe'

/** One operation of the service. */
export interface Endpoint<Request = unknown, Data = unknown> {
  readonly method: 'GET' | 'POST'
  /** Path below the base URL. `undefined` if the interface does not show it. */
  readonly path: string | undefined
  readonly request: $ZodType<Request>
  /** Schema of the envelope's `data`. `undefined` if the answer has none, `'any'` if the interface does not show it. */
  readonly response: $ZodType<Data, unknown> | 'any' | undefined
  /** Accepts data that fits `response`, many times faster, for answers that grow with a campaign. */
  readonly fitsResponse?: CompiledCheck
  readonly retry: RetryRule
  /** The arguments whose query names the interface does not show. By default, the name of the argument is used. */
  readonly assumedQueryNames?: readonly string[]
}

/** An operation whose query names the interface does not show. */
export interface OpenQueryEndpoint<Request = unknown, Data = unknown> extends Endpoint<Request, Data> {
  readonly assumedQueryNames: readonly Extract<keyof Request, string>[]
}

/** Defines an operation whose query or body the interface shows. */
export const endpoint = <Request, Data>(
  definition: Endpoint<Request, Data> & { readonly assumedQueryNames?: undefined },
): Endpoint<Request, Data> => definition

/** Defines an operation whose query names the interface does not show. */
export const openQueryEndpoint = <Request, Data>(
  definition: OpenQueryEndpoint<Request, Data>,
): OpenQueryEndpoint<Request, Data> => definition

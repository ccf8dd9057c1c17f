import type { $ZodType } from 'zod/v4/core'

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
  /** Path relative to the base URL. `undefined` if the API description does not show it. */
  readonly path: string | undefined
  readonly request: $ZodType<Request>
  /** Schema of the response's `data`. `undefined` if there is none, `'any'` if the API description does not show it. */
  readonly response: $ZodType<Data, unknown> | 'any' | undefined
  readonly retry: RetryRule
  /** Arguments whose query names the API description does not show. By default, the query names are the argument names. */
  readonly assumedQueryNames?: readonly string[]
}

/** An operation whose query names the API description does not show. */
export interface OpenQueryEndpoint<Request = unknown, Data = unknown> extends Endpoint<Request, Data> {
  readonly assumedQueryNames: readonly Extract<keyof Request, string>[]
}

/** Defines an operation without assumed query names. */
export const endpoint = <Request, Data>(
  definition: Endpoint<Request, Data> & { readonly assumedQueryNames?: undefined },
): Endpoint<Request, Data> => definition

/** Defines an operation whose query names the API description does not show. */
export const openQueryEndpoint = <Request, Data>(
  definition: OpenQueryEndpoint<Request, Data>,
): OpenQueryEndpoint<Request, Data> => definition

import { endpoints } from './catalogue.ts'
import type { Endpoint } from './endpoint.ts'

export { endpoints }

/** The catalogue of the service's operations. */
export type Endpoints = typeof endpoints

/** Any entry of the catalogue. */
export type AnyEndpoint = Endpoints[OperationName]

/** The name of an operation: its method on `CampaignClient`. */
export type OperationName = keyof Endpoints

/** The operations whose query names the interface does not show. */
export type OpenQueryOperation = {
  [Name in OperationName]: Endpoints[Name] extends { readonly assumedQueryNames: readonly string[] } ? Name : never
}[OperationName]

/** The arguments of an operation. */
export type RequestOf<Name extends OperationName> =
  Endpoints[Name] extends Endpoint<infer Request, infer _> ? Request : never

/** The result of an operation. */
export type DataOf<Name extends OperationName> = Endpoints[Name] extends Endpoint<infer _, infer Data> ? Data : never

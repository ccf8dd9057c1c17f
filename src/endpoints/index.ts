import { endpoints } from './catalogue.ts'
import type { Endpoint } from './endpoint.ts'

export { endpoints }

/** The catalogue of the service's operations. */
export type Endpoints = typeof endpoints

/** An entry of the catalogue, whichever. */
export type AnyEndpoint = Endpoints[OperationName]

/** The name of an operation, which is the name of its method on `CampaignClient`. */
export type OperationName = keyof Endpoints

/** The operations whose query names the interface leaves open. */
export type OpenQueryOperation = {
  [Name in OperationName]: Endpoints[Name] extends { readonly assumedQueryNames: readonly string[] } ? Name : never
}[OperationName]

/** What an operation takes. */
export type RequestOf<Name extends OperationName> =
  Endpoints[Name] extends Endpoint<infer Request, infer _> ? Request : never

/** What an operation resolves to. */
export type DataOf<Name extends OperationName> = Endpoints[Name] extends Endpoint<infer _, infer Data> ? Data : never

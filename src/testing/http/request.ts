/** A request as the service sees it, whichever way it came. */
export interface ServiceRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Headers
  readonly body: Uint8Array
}

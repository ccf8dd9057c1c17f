import { isRecord } from '../shared/types.ts'

/**
 * Suspects a forgotten `/api/v1` as long as every answer is a 404 that the service did not write: something else
 * listens at that address. Interface: [Address and version](../../docs/the-service.md#address-and-version).
 */
export class AddressHint {
  #suspected: boolean

  /** @param baseUrl - As `clientSettings` gives it. */
  constructor(baseUrl: string) {
    this.#suspected = !new URL(baseUrl).pathname.endsWith('/api/v1/')
  }

  /** What the message of this answer adds, after the answers before it. */
  after(status: number, body: unknown): string {
    if (status !== 404 || isEnvelope(body)) this.#suspected = false
    return this.#suspected ? '; baseUrl does not end with /api/v1, where the service is' : ''
  }
}

const isEnvelope = (body: unknown): boolean => isRecord(body) && ('success' in body || 'error' in body)

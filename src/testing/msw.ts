/**
 * The local service as msw handlers. It needs msw 2.10 or later, an optional peer dependency, and throws on import otherwise.
 *
 * @module campaign-client/testing/msw
 */
import type { HttpHandler } from 'msw'
import * as msw from 'msw'
import { type OptionRule, type OptionRules, readOptions } from '../errors/option-checks.ts'
import type { CampaignService } from './campaign-service.ts'

// Not imported by name: old versions lack the exports, and the runtime's error would not name the version that is needed.
const { http, HttpResponse } = msw
// Versions below 2.10 inherit `error` from `Response`.
if (typeof http?.all !== 'function' || !Object.hasOwn(HttpResponse, 'error')) {
  throw new Error('campaign-client/testing/msw needs msw 2.10 or later; install msw@latest')
}

/** Options of {@link campaignHandlers}. */
export interface CampaignHandlersOptions {
  /** The `baseUrl` of the client, `/api/v1` included. */
  baseUrl: string | URL
}

const mustEndInApi: OptionRule = (value) => {
  const url = URL.canParse(String(value)) ? new URL(String(value)) : undefined
  const isBase = url !== undefined && /^\/api\/v1\/?$/.test(url.pathname) && url.search === '' && url.hash === ''
  return isBase ? undefined : 'must be an absolute URL that ends in /api/v1'
}

const HANDLERS: OptionRules<CampaignHandlersOptions> = { baseUrl: mustEndInApi }

/**
 * Returns msw handlers that pass every request below `baseUrl` to the service, unknown paths included. Faults work as
 * with `service.fetch`. A closed connection becomes msw's network error.
 *
 * @example
 * ```ts
 * const service = createCampaignService()
 * const server = setupServer(...campaignHandlers(service, { baseUrl: 'https://campaign.example/api/v1' }))
 * ```
 * @throws ConfigurationError when `baseUrl` is not an absolute URL with the path `/api/v1`, or an option is unknown
 */
export function campaignHandlers(
  service: Pick<CampaignService, 'fetch'>,
  options: CampaignHandlersOptions,
): HttpHandler[] {
  const { baseUrl } = readOptions('campaignHandlers', options, HANDLERS)
  return [
    http.all(`${new URL(baseUrl).origin}/api/v1/*`, async ({ request }) => {
      try {
        return await service.fetch(request)
      } catch {
        // A fault closed the connection, or the request was aborted and the response is not read.
        return HttpResponse.error()
      }
    }),
  ]
}

import { ConfigurationError } from '../errors.ts'
import { isForbiddenPort } from '../shared/forbidden-ports.ts'

/**
 * For a client that sends with the platform's `fetch`.
 *
 * @throws ConfigurationError when `fetch` would refuse every call, in words about a network that failed.
 */
export function refuseForbiddenPort(baseUrl: string): void {
  const { port } = new URL(baseUrl)
  if (port === '' || !isForbiddenPort(Number(port))) return
  throw new ConfigurationError(
    `CampaignClient: baseUrl must not use port ${port}, which fetch refuses to connect to; use another port, or a ` +
      'transport that does not send with fetch',
  )
}

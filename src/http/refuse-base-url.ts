import { ConfigurationError } from '../errors.ts'
import type { ClientSettings } from '../settings.ts'
import { isForbiddenPort } from '../shared/forbidden-ports.ts'

/**
 * @throws ConfigurationError when what sends the requests would refuse every one of them because of where they go, in
 * words about a network that failed.
 */
export function refuseBaseUrl({
  baseUrl,
  fetch,
  transport,
}: Pick<ClientSettings, 'baseUrl' | 'fetch' | 'transport'>): void {
  // A partner's `fetch` may go anywhere.
  const ofFetch = fetch === undefined ? portProblem : undefined
  const problem = transport === undefined ? ofFetch?.(baseUrl) : transport.baseUrlProblem?.(baseUrl)
  if (problem !== undefined) throw new ConfigurationError(`CampaignClient: ${problem}`)
}

function portProblem(baseUrl: string): string | undefined {
  const { port } = new URL(baseUrl)
  if (port === '' || !isForbiddenPort(Number(port))) return undefined
  return (
    `baseUrl must not use port ${port}, which fetch refuses to connect to; use another port, or a ` +
    'transport that does not send with fetch'
  )
}

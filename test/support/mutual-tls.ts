import https from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { createCampaignService } from 'campaign-client/testing'
import type { TestAuthority } from '../node/certificates.ts'

/** The local service behind TLS. It requires a certificate of the authority. */
export interface MutualTlsService {
  readonly port: number
  /** The name in the client certificate of each request. */
  readonly peers: string[]
  close(): void
}

/** Starts the local service at `https://localhost:PORT`. */
export async function listenWithMutualTls(authority: TestAuthority): Promise<MutualTlsService> {
  const local = createCampaignService()
  const peers: string[] = []
  const identity = await authority.issue('localhost')
  const server = https.createServer(
    { ...identity, ca: authority.cert, requestCert: true, rejectUnauthorized: true },
    async (request, response) => {
      peers.push(String((request.socket as TLSSocket).getPeerCertificate().subject.CN))
      const { method = 'GET', url = '/', headers } = request
      const answer = await local.fetch(`https://localhost${url}`, {
        method,
        headers: headers as Record<string, string>,
      })
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
    },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    peers,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

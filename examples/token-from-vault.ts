/**
 * Short-lived tokens from a vault:
 *
 *   npm pkg set type=module
 *   npm install tsx@4
 *   npx tsx token-from-vault.ts
 *
 * The client keeps a token until 30 s before it expires. Concurrent calls share
 * one token request. The class below also fetches the next token in advance, so
 * that no call waits for the vault.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CampaignClient } from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'

class VaultTokens {
  readonly #address: string
  #next: Promise<string> | undefined

  constructor(address: string) {
    this.#address = address
  }

  /** The client's `accessToken` option. Each call returns a new token. */
  readonly get = async (): Promise<string> => {
    const token = await (this.#next ?? this.#fetch())
    this.#next = undefined
    const { exp } = JSON.parse(
      Buffer.from(token.split('.')[1] ?? '', 'base64url').toString(),
    )
    const timer = setTimeout(
      () => {
        this.#next = this.#fetch()
        // After an error, the client's next call asks the vault again.
        this.#next.catch(() => {
          this.#next = undefined
        })
      },
      Math.max(0, exp * 1000 - Date.now() - 60_000),
    )
    timer.unref()
    return token
  }

  async #fetch(): Promise<string> {
    const response = await fetch(this.#address, {
      signal: AbortSignal.timeout(5_000),
    })
    if (!response.ok)
      throw new Error(`the vault responded with ${response.status}`)
    const { token } = (await response.json()) as { token: string }
    return token
  }
}

// A simulated vault on loopback. Its tokens are valid for five minutes.
let served = 0
const vault = createServer((_request, response) => {
  served += 1
  const part = (value: object): string =>
    Buffer.from(JSON.stringify(value)).toString('base64url')
  const exp = Math.floor(Date.now() / 1000) + 300
  const token = `${part({ alg: 'none' })}.${part({ jti: served, exp })}.`
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ token }))
})
await new Promise<void>((resolve) => vault.listen(0, '127.0.0.1', resolve))

const service = createCampaignService({ idSeed: 'vault' })
const tokens = new VaultTokens(
  `http://127.0.0.1:${(vault.address() as AddressInfo).port}`,
)
const client = new CampaignClient({
  baseUrl: 'https://service.example/api/v1',
  accessToken: tokens.get,
  fetch: service.fetch,
})
const ada = { account: 'ada', platform: 'discord', pid: 'demo' }

await Promise.all([
  client.getUserProgress(ada),
  client.getUserProfiles(ada),
  client.getCampaignInfo({ pid: 'demo' }),
])
console.log(`three concurrent calls: ${served} token request(s)`)

service.fail({ kind: 'status', status: 401 })
const { total } = await client.getUserProgress(ada)
console.log(
  `the token was revoked: ${served} token requests, ` +
    `and the call succeeded: ${total} XP`,
)

vault.closeAllConnections()
await new Promise((resolve) => vault.close(resolve))
service.fail({ kind: 'status', status: 401 })
const error = await client.getUserProgress(ada).catch((reason) => reason)
console.log(
  `revoked again while the vault is down: ` +
    `${error.code}, ${error.cause?.message}`,
)

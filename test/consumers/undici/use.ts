// From the guide "Runtimes and frameworks".
import { CampaignClient } from 'campaign-client'
import { fetch, ProxyAgent } from 'undici'

const dispatcher = new ProxyAgent('http://proxy.example:3128')
export const client = new CampaignClient({
  baseUrl: 'https://service.example/api/v1',
  accessToken: 'a-token',
  fetch: (url, init) => fetch(url, { ...init, dispatcher }),
})

// Without a dispatcher, pass undici's fetch directly.
export const plain = new CampaignClient({
  baseUrl: 'https://service.example/api/v1',
  accessToken: 'a-token',
  fetch,
})

// One isolate serves all requests of a test, with one client per name. It responds as soon as a call has reached a step, and does
// not await the rest: Workers never settle what is pending when a request ends.
import { CampaignClient } from 'campaign-client'

const clients = new Map()
const steps = new Map()

export default {
  async fetch(request, environment) {
    const { name, options, slowSource, id, leaveAt } = await request.json()
    const seen = stepsOf(name)
    const client = clients.get(name) ?? createClient(name, environment.BASE_URL, options, slowSource)
    clients.set(name, client)
    const left = new Promise((resolve) => {
      seen.onStep = (step) => step === leaveAt && resolve({ state: 'left' })
    })
    const call = client.rewardWallet({ address: `0x${'a1'.repeat(20)}`, pid: 'demo', id, xp: 5 }).then(
      () => ({ state: 'awarded' }),
      ({ code, message }) => ({ state: code, message }),
    )
    seen.onStep('start')
    return Response.json({ ...(await Promise.race([call, left])), sourceCalls: seen.sourceCalls })
  },
}

function stepsOf(name) {
  if (!steps.has(name)) steps.set(name, { sourceCalls: 0, onStep: () => undefined })
  return steps.get(name)
}

function createClient(name, baseUrl, options, slowSource) {
  const seen = stepsOf(name)
  const accessToken = async () => {
    const nth = ++seen.sourceCalls
    seen.onStep(`source ${nth}`)
    await new Promise((resolve) => setTimeout(resolve, nth === slowSource ? 120_000 : 100))
    return `token-${name}-${nth}`
  }
  const hooks = {
    onRequest: ({ attempt }) => seen.onStep(`request ${attempt}`),
    onRetry: ({ attempt }) => seen.onStep(`retry ${attempt}`),
  }
  return new CampaignClient({ baseUrl, accessToken, hooks, ...options })
}

// Runs the suite in workerd. `self` is a binding to this worker: it sends requests to the receiver like another service.
import { run } from './suite.mjs'

let served

export default {
  async test(_controller, { address, self }) {
    const serveFetch = (receiver) => serve(receiver, self)
    const outcomes = await run({ ...JSON.parse(address), serveFetch })
    console.log(`REPORT ${JSON.stringify({ outcomes })}`)
  },

  fetch(request, _environment, context) {
    return served.fetch(request, context)
  },
}

async function serve(receiver, self) {
  served = receiver
  return {
    send: (init) => self.fetch('http://receiver.test/webhooks/campaign', init),
    async close() {
      served = undefined
    },
  }
}

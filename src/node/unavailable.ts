/** Replaces the transport in runtimes without node:http. */
export const createNodeTransport: never = (() => {
  throw new Error(
    'campaign-client/node needs node:http, which this runtime, or the conditions of its bundler, do not offer. ' +
      'Leave the transport option out: the client uses fetch.',
  )
})()

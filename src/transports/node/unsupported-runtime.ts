/** Replaces `node-transport.ts` in runtimes without node:http. */
export const createNodeTransport: never = (() => {
  throw new Error(
    'campaign-client/node needs node:http, which this runtime or its bundler does not provide; ' +
      'omit the transport option to use fetch',
  )
})()

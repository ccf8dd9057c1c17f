import { nodeTransport } from 'campaign-client/node'
import { transportContract } from '../call/transports/contract.ts'

transportContract('the Node transport', () => {
  const transport = nodeTransport()
  return { transport, close: () => transport.close() }
})

import { fetchTransport } from '../../../src/transports/fetch.ts'
import { transportContract } from './contract.ts'

transportContract('the default transport', () => ({ transport: fetchTransport(undefined) }), {
  sends421: 2,
  knowsUnsent: false,
})

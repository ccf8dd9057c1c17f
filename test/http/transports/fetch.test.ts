import { fetchTransport } from '../../../src/http/fetch-transport.ts'
import { transportContract } from './contract.ts'

transportContract('the default transport', () => ({ transport: fetchTransport(undefined) }), {
  sends421: 2,
  knowsUnsent: false,
})

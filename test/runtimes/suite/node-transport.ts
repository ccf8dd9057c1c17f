import { nodeTransport } from 'campaign-client/node'
import { type Behaviour, need } from './behaviour.ts'
import { callsOver } from './loopback.ts'

/** Never closed: its idle sockets must not hold the process, which the host waits for. */
const transport = nodeTransport()

/** The calls over a real connection, with `nodeTransport`. */
export const nodeTransports: readonly Behaviour[] = callsOver({
  over: 'over nodeTransport',
  serviceUrl: (environment) => need(environment, 'nodeServiceUrl'),
  options: () => ({ transport }),
  withoutServer: 'not_applied',
})

import { testResponses } from '../call/response-tests.ts'
import { type Scripted, scriptedNodeTransport } from '../call/scripted-transports.ts'
import { clientWith } from '../client/stub-service.ts'
import { operation } from '../contract/operations.ts'

const { script: scriptResponse } = scriptedNodeTransport()
let script: Scripted

testResponses({
  respond(_, { status = 200, body = null, headers = {} }) {
    script = scriptResponse(() => new Response(body, { status, headers }))
  },
  client: (options) => clientWith({ ...script.via, ...options }),
  received: () => script.sent.length,
  // The transport does not know the operation.
  tabled: [operation('getCampaignInfo'), operation('rewardWallet')],
})

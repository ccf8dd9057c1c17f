import { answersOver } from '../call/answers.ts'
import { type Scripted, scriptedNodeTransport } from '../call/scripted-transports.ts'
import { clientWith } from '../client/stub-service.ts'

const { script: scriptAnswer } = scriptedNodeTransport()
let script: Scripted

answersOver({
  answer(_, { status = 200, body = null, headers = {} }) {
    script = scriptAnswer(() => new Response(body, { status, headers }))
  },
  client: (options) => clientWith({ ...script.via, ...options }),
  received: () => script.sent.length,
})

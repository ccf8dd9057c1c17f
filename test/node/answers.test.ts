import { clientWith } from '../client/stub-service.ts'
import { answersOver } from '../http/answers.ts'
import { nodeWire, type Scripted } from '../http/wires.ts'

const { script: answerBy } = nodeWire()
let script: Scripted

answersOver({
  answer(_, { status = 200, body = null, headers = {} }) {
    script = answerBy(() => new Response(body, { status, headers }))
  },
  client: (options) => clientWith({ ...script.via, ...options }),
  received: () => script.sent.length,
})

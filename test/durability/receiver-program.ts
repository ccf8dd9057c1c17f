/** A receiver over `sqliteStore`. Its argument is the path of the store. Prints the key of each message that it handles. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createWebhookReceiver } from 'campaign-client/webhook'
import { sqliteStore } from 'campaign-client/webhook/sqlite'
import { SECRET } from '../webhook/signed-message.ts'

const receiver = createWebhookReceiver({
  endpoint: 'durability',
  secret: SECRET,
  store: sqliteStore(process.argv[2] ?? ''),
  handle: (_event, { key }) => void process.stdout.write(`${key}\n`),
})
const server = createServer(receiver.node).listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})

/**
 * Child process: responds to `/<tasks>/…` with the progress of a user with that number of tasks. Sends its port to the parent.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { responseWith } from './sample.ts'
import { stayAwake } from './stay-awake.ts'

const bodies = new Map<string, Buffer>()

const server = createServer((request, response) => {
  const tasks = request.url?.split('/')[1] ?? ''
  const body = bodies.get(tasks) ?? Buffer.from(responseWith(Number(tasks)))
  bodies.set(tasks, body)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
  response.end(body)
})
// Node's default of 5 s is too short: while a rival is measured, a connection is idle for longer.
server.keepAliveTimeout = 120_000
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
stayAwake()
process.on('disconnect', () => process.exit())

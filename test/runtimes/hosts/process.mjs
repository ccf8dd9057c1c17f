// Runs the suite in a runtime that reads packages from node_modules: Node, Bun, Deno.
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import process from 'node:process'
import { hmac } from './node_modules/campaign-client/dist/hmac-probe.mjs'
import { run } from './suite.mjs'

const { Bun, Deno } = globalThis
const require = createRequire(import.meta.url)
const address = JSON.parse(process.argv[2])

const outcomes = await run({
  ...address,
  commonJs: { root: require('campaign-client'), webhook: require('campaign-client/webhook') },
  serveNode,
  ...(Bun && { serveFetch: serveBun }),
  ...(Deno && { serveFetch: serveDeno }),
})
const version = Bun?.version ?? Deno?.version.deno ?? process.version.slice(1)
console.log(`REPORT ${JSON.stringify({ version, hmac, outcomes })}`)

async function serveNode(receiver) {
  const server = createServer(receiver.node)
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    send: (init) => fetch(`http://127.0.0.1:${server.address().port}/`, init),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function serveBun(receiver) {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: receiver.fetch })
  return { send: (init) => fetch(server.url, init), close: () => server.stop(true) }
}

async function serveDeno(receiver) {
  const server = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen() {} }, receiver.fetch)
  return { send: (init) => fetch(`http://127.0.0.1:${server.addr.port}/`, init), close: () => server.shutdown() }
}

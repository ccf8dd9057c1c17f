// Runs the suite in a runtime that reads packages from node_modules: Node, Bun, Deno.
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { hmac } from './node_modules/campaign-client/dist/crypto-probe.mjs'
import { run } from './suite-process.mjs'

const { Bun, Deno } = globalThis
const require = createRequire(import.meta.url)
const address = JSON.parse(process.argv[2])
const runArgs = Deno ? ['run', '--allow-all', '--no-remote', '--no-lock'] : []

const outcomes = await run({
  ...address,
  commonJs: { root: require('campaign-client'), webhook: require('campaign-client/webhook') },
  serveNode,
  runCommand,
  ...(Bun && { serveFetch: serveBun }),
  ...(Deno && { serveFetch: serveDeno }),
})
const version = Bun?.version ?? Deno?.version.deno ?? process.version.slice(1)
console.log(`REPORT ${JSON.stringify({ version, hmac, outcomes })}`)
// On Deno (2.9.5), a request that was abandoned holds the process until the server closes the connection.
if (Deno) process.exit()

/** Runs the command with this runtime. */
function runCommand(args, cwd, env) {
  const program = fileURLToPath(new URL('node_modules/campaign-client/dist/cli/main.js', import.meta.url))
  const child = spawn(process.execPath, [...runArgs, program, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (text) => (output[name] += text))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, ...output }))
  })
}

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

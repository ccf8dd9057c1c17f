import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const PROGRAM = 'node_modules/campaign-client/dist/cli/main.js'

/** Starts the local service on a free port. */
export async function startLocalService() {
  const flags = ['dev', '--port', '0', '--quiet']
  const dev = spawn(process.execPath, [PROGRAM, ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const url of createInterface({ input: dev.stdout })) {
    return {
      baseUrl: `${url}api/v1`,
      control: (action, body) => request(`${url}control/${action}`, body),
      stop: () => dev.kill(),
    }
  }
  throw new Error('dev did not start: see its output above')
}

async function request(url, body) {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(await response.text())
  return response.json()
}

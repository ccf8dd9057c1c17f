import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createWebhookReceiver } from 'campaign-client/webhook'
import { describe, expect, onTestFinished, test } from 'vitest'
import { read } from '../../scripts/repository.ts'
import { CONTROL_REQUESTS } from '../../src/console/action-requests.ts'
import { LINUS, openConsole, receiver } from '../console/open-console.ts'

const PAGE = 'docs/local-service.md'

describe('docs/local-service.md', () => {
  const blocks = [...read(PAGE).matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) => block.split('\n\n'))
  const commands = blocks.map((block) => block.trim()).filter((block) => block.startsWith('curl'))

  test('has a curl line for each action and record, and every line works as it stands', async () => {
    const { base, service, clock } = await openConsole()
    const { url } = await receiver(503)
    const done: string[] = []
    for (const command of commands) {
      const name = /\/control\/(\w+)/.exec(command)?.[1] ?? ''
      service.registerWebhook({ hook_id: 'first', url })
      if (name === 'redeliver' || name === 'advanceToNextRetry') {
        service.emit({ kind: 'action_completed', ...LINUS, aid: 'follow' })
        await service.settle()
      }
      const line = command
        .replace('http://127.0.0.1:4600', base)
        .replaceAll('http://127.0.0.1:3000/hook', url)
        .replace('FAULT_KEY', service.faults.at(-1)?.id ?? '')
        .replace('DELIVERY_ID', service.deliveries.at(-1)?.deliveryId ?? '')
      const status = "-sS -o /dev/null -w '%{http_code}'"
      const shell = promisify(execFile)('sh', ['-c', line.replace('curl', `curl ${status}`)], { timeout: 120_000 })
      expect([command, (await shell).stdout]).toEqual([command, '200'])
      done.push(name)
    }
    expect(clock.now()).toBeLessThan(Date.now() + 1000)
    expect(new Set(done)).toEqual(
      new Set([...Object.keys(CONTROL_REQUESTS), 'state', 'faults', 'requests', 'deliveries']),
    )
  })

  test('starts with a test in Python, which passes, and fails if the program does not send the award again', async () => {
    const { base } = await openConsole()
    const [, source = ''] = /^```python file: test_award.py\n([\s\S]*?)^```$/m.exec(read(PAGE)) ?? []
    const folder = mkdtempSync(join(tmpdir(), 'campaign-python-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const run = (text: string) => {
      writeFileSync(join(folder, 'test_award.py'), text.replace('http://127.0.0.1:4600', base))
      return promisify(execFile)('python3', ['-m', 'unittest'], { cwd: folder, timeout: 120_000 })
    }
    expect((await run(source)).stderr).toMatch(/Ran 1 test[\s\S]*OK/)
    const once = source.replace('range(3)', 'range(1)').replace('attempt == 2', 'False')
    await expect(run(once)).rejects.toThrow('[503, 200]')
  })

  test('shows examples/test_receiver.py, which passes with a receiver that verifies, and fails otherwise', async () => {
    const example = read('examples/test_receiver.py').replace(/^"""[\s\S]*?"""\n\n/, '')
    expect(read(PAGE)).toContain(`\`\`\`python\n${example}\`\`\``)
    const secret = 'the secret of the environment'
    // As with `dev --webhook`: the program must not test this webhook instead.
    const { base } = await openConsole({ secret, webhooks: [{ url: 'http://127.0.0.1:9/', secret }] })
    const receiver = createWebhookReceiver({ endpoint: 'test', secret, handle: () => {}, onReject: () => {} })
    for (const [handler, passes] of [
      [receiver.node, true],
      [(_: unknown, response: { end(): void }) => response.end(), false],
    ] as const) {
      const server = createServer(handler as typeof receiver.node)
      await once(server.listen(0, '127.0.0.1'), 'listening')
      onTestFinished(() => void server.close().closeAllConnections())
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
      const run = promisify(execFile)('python3', ['examples/test_receiver.py', url, base], { timeout: 120_000 })
      if (passes) expect((await run).stdout).toContain('refuses a forged message and accepts the retry')
      else await expect(run).rejects.toThrow('a forged message: [200]')
    }
  })
})

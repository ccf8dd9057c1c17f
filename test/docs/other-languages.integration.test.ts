import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import webhookVectors from '../../docs/webhook-vectors.json' with { type: 'json' }
import { pathTo, read } from '../../scripts/repository.ts'
import { skipsWithout } from '../support/skips-without.ts'

const PAGE = 'docs/webhooks-in-other-languages.md'
const { header, vectors } = webhookVectors
type Vector = (typeof vectors)[number]

/** Compilers are not packages of the gate: CAMPAIGN_TEST_COMPILERS=1 runs the programs in Go, Java and Rust as well. */
const compilers = process.env.CAMPAIGN_TEST_COMPILERS === '1'
const LANGUAGES = { Python: 'python3', PHP: 'php', Ruby: 'ruby', Go: 'go', Java: 'java', Rust: 'cargo' }
const languages = Object.keys(LANGUAGES).slice(0, compilers ? undefined : 3) as (keyof typeof LANGUAGES)[]
const isInstalled = (tool: string): boolean => spawnSync(tool, ['--version']).error === undefined

interface Program {
  readonly file: string
  readonly source: string
  /** The commands of the page, in order. The last one starts the receiver. */
  readonly commands: readonly string[]
}

/** The program in the section of a language. */
function programOf(language: string): Program {
  const [section] = /^[\s\S]*?(?=^## |$(?![\s\S]))/m.exec(read(PAGE).split(`\n## ${language}\n`)[1] ?? '') ?? ['']
  const [, file = '', source = ''] = /^```\w+ file: (\S+)\n([\s\S]*?)^```$/m.exec(section) ?? []
  const [, commands = ''] = /^```bash\n([\s\S]*?)^```$/m.exec(section) ?? []
  return { file, source, commands: commands.trim().split('\n') }
}

/** A folder with the program of a language, built as the page says, on a free port. */
class Workplace {
  readonly folder = mkdtempSync(join(tmpdir(), 'campaign-webhook-'))
  readonly #program: Program
  #port = 0
  #server: ChildProcess | undefined

  constructor(program: Program) {
    this.#program = program
  }

  async prepare(): Promise<void> {
    const listener = createServer().listen(0, '127.0.0.1')
    await once(listener, 'listening')
    this.#port = (listener.address() as AddressInfo).port
    await new Promise((resolve) => listener.close(resolve))
    const write = (): void => {
      const path = join(this.folder, this.#program.file)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, this.#onOwnPort(this.#program.source))
    }
    write()
    for (const command of this.#program.commands.slice(0, -1)) {
      await promisify(execFile)('bash', ['-c', command], { cwd: this.folder })
    }
    write()
  }

  /** Starts the receiver. Resolves to the status of a message without a signature, or to its exit code. */
  async start(secret: string): Promise<{ status: number } | { exitCode: number }> {
    const command = this.#onOwnPort(this.#program.commands.at(-1) ?? '')
    const server = spawn('bash', ['-c', `exec ${command}`], {
      cwd: this.folder,
      env: { ...process.env, LC_ALL: 'C.UTF-8', CAMPAIGN_WEBHOOK_SECRET: secret },
      stdio: 'ignore',
      detached: true,
    })
    this.#server = server
    const ended = once(server, 'exit').then(([code]) => ({ exitCode: Number(code) }))
    for (;;) {
      const answer = await Promise.race([ended, this.#probe()])
      if (answer !== undefined) return answer
    }
  }

  async #probe(): Promise<{ status: number } | undefined> {
    try {
      return { status: await this.send({ body: '{}', signatures: [] }) }
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50))
      return undefined
    }
  }

  /** Sends a message in two parts, and resolves to the status of the response. */
  async send({ body, signatures }: { body: string | Buffer; signatures: string[] }): Promise<number> {
    const bytes = Buffer.from(body)
    const sent = request({
      port: this.#port,
      host: '127.0.0.1',
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', 'content-length': bytes.length, [header]: signatures },
    })
    sent.write(bytes.subarray(0, bytes.length / 2))
    setImmediate(() => sent.end(bytes.subarray(bytes.length / 2)))
    const [response] = await once(sent, 'response')
    response.resume()
    return response.statusCode
  }

  /** Sends the bytes of a request, and waits for the end of the connection. */
  async sendRaw(bytes: string): Promise<void> {
    const socket = connect(this.#port, '127.0.0.1')
    socket.on('error', () => {})
    socket.resume().end(bytes, 'latin1')
    await once(socket, 'close')
  }

  async stop(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#server ?? {}
    if (this.#server === undefined || pid === undefined || exitCode !== null || signalCode !== null) return
    const ended = once(this.#server, 'exit')
    process.kill(-pid, 'SIGKILL')
    await ended
  }

  #onOwnPort(text: string): string {
    return text.replaceAll('3000', `${this.#port}`)
  }
}

const messageOf = ({ bodyBase64, signatures }: Vector): { body: Buffer; signatures: string[] } => ({
  body: Buffer.from(bodyBase64, 'base64'),
  signatures,
})

describe.each(languages)('the receiver in %s', { timeout: 300_000 }, (language) => {
  const tool = LANGUAGES[language]
  const missing = isInstalled(tool) ? undefined : `${tool} is not installed`

  describe.skipIf(skipsWithout(language, missing))('pasted from the page', () => {
    const workplace = new Workplace(programOf(language))

    beforeAll(() => workplace.prepare(), 300_000)
    afterAll(() => rmSync(workplace.folder, { recursive: true, force: true }))

    test.each([...new Set(vectors.map(({ secret }) => secret))])(
      'responds with 200 and 401 to the vectors of the secret “%s”',
      async (secret) => {
        onTestFinished(() => workplace.stop())
        const started = await workplace.start(secret)
        if (secret === '') {
          if ('exitCode' in started) expect(started.exitCode).not.toBe(0)
          else expect(started.status).toBe(500)
          return
        }
        expect(started).toEqual({ status: 401 })
        const found = []
        const expected = []
        for (const vector of vectors.filter((one) => one.secret === secret)) {
          const send = workplace.send(messageOf(vector))
          // tiny_http closes the connection after a header that is not ASCII.
          const isClosed = language === 'Rust' && vector.signatures.some((signature) => /[^ -~]/.test(signature))
          found.push(`${vector.name}: ${await (isClosed ? send.catch(() => 401) : send)}`)
          expected.push(`${vector.name}: ${vector.accepted ? 200 : 401}`)
        }
        expect(found).toEqual(expected)
      },
    )

    test('still receives messages after malformed requests', async () => {
      onTestFinished(() => workplace.stop())
      const [vector] = vectors as [Vector, ...Vector[]]
      await workplace.start(vector.secret)
      const head = 'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n'
      for (const bytes of [
        `${head}Content-Length: many\r\n\r\n{}`,
        `${head}Content-Length: -1\r\n\r\n{}`,
        // The development server of PHP ends when it has too little memory for the body.
        `${head}Content-Length: ${'9'.repeat(language === 'PHP' ? 7 : 25)}\r\n\r\n{}`,
        `${head}Content-Length: 10\r\n\r\n{}`,
        `${head}\r\n`,
        `${head}${header}: \xff\xfe\r\nContent-Length: 2\r\n\r\n{}`,
        '\xff\x00\r\n\r\n',
      ]) {
        await workplace.sendRaw(bytes)
      }
      expect(await workplace.send(messageOf(vector))).toBe(200)
    })
  })
})

test.skipIf(skipsWithout('Python', isInstalled('python3') ? undefined : 'python3 is not installed'))(
  'the loop over the vectors accepts the function of the page, and reports a wrong one',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'campaign-webhook-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const { file, source } = programOf('Python')
    const loop = programOf('Test with vectors')
    const run = (): Promise<unknown> =>
      promisify(execFile)('python3', [loop.file, pathTo('docs/webhook-vectors.json')], { cwd: folder })
    writeFileSync(join(folder, loop.file), loop.source)
    writeFileSync(join(folder, file), source)
    await run()
    writeFileSync(join(folder, file), source.replace('hmac.compare_digest(digest.encode(), given)', 'True'))
    await expect(run()).rejects.toThrow('AssertionError: no signature')
  },
)

test('the page has a program in each language', () => {
  for (const language of [...Object.keys(LANGUAGES), 'C#']) {
    const { file, source, commands } = programOf(language)
    expect([file, source, commands.join()]).not.toContain('')
  }
})

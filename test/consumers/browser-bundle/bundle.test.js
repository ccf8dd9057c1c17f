import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createContext, runInContext } from 'node:vm'
import { nodeResolve } from '@rollup/plugin-node-resolve'
import * as esbuild from 'esbuild'
import { rollup } from 'rollup'
import webpack from 'webpack'

const app = new URL('app.js', import.meta.url).pathname

/** Each makes one script for a page, with the settings a partner would start from. */
const bundlers = {
  async esbuild() {
    const { outputFiles } = await esbuild.build({ entryPoints: [app], bundle: true, write: false, format: 'iife' })
    return outputFiles[0].text
  },
  async webpack() {
    const path = mkdtempSync(join(tmpdir(), 'webpack-'))
    const output = { path, filename: 'app.js' }
    await new Promise((resolve, reject) => {
      webpack({ entry: app, mode: 'production', target: 'web', output }, (error, stats) => {
        if (error || stats.hasErrors() || stats.hasWarnings()) reject(error ?? new Error(stats.toString()))
        else resolve()
      })
    })
    return readFileSync(join(path, 'app.js'), 'utf8')
  },
  async rollup() {
    const warnings = []
    const bundle = await rollup({
      input: app,
      plugins: [nodeResolve({ browser: true })],
      onwarn: ({ id = '', ids = [id], message }) => {
        if (ids.some((name) => name.includes('/campaign-client/'))) warnings.push(message)
      },
    })
    const { output } = await bundle.generate({ format: 'iife', inlineDynamicImports: true })
    assert.deepEqual(warnings, [])
    return output[0].code
  },
}

/** What a page has, and nothing of Node: no process, no Buffer, no require. */
const PAGE = [
  'AbortController',
  'AbortSignal',
  'Blob',
  'DOMException',
  'Event',
  'EventTarget',
  'FormData',
  'Headers',
  'ReadableStream',
  'Request',
  'Response',
  'TextDecoder',
  'TextEncoder',
  'URL',
  'URLSearchParams',
  'atob',
  'btoa',
  'clearTimeout',
  'console',
  'crypto',
  'performance',
  'queueMicrotask',
  'setTimeout',
  'structuredClone',
]

for (const [name, bundle] of Object.entries(bundlers)) {
  test(`a bundle of ${name} works in a page`, async () => {
    const code = await bundle()
    assert.doesNotMatch(code, /createHmac|from ?["']node:|require\(["']node:/)
    const page = createContext(Object.fromEntries(PAGE.map((key) => [key, globalThis[key]])))
    runInContext(code, page)
    assert.deepEqual(
      { ...(await page.appDone) },
      {
        user: 'ada',
        unauthorized: true,
        signature: createHmac('sha256', 'secret').update('{"id":"1"}').digest('hex'),
        genuine: true,
        forged: 'signature_mismatch',
      },
    )
  })
}

for (const conditions of [[], ['workerd', 'worker']]) {
  test(`where there is no node:http (${conditions}), importing the Node transport says what to do`, async () => {
    const { outputFiles } = await esbuild.build({
      stdin: {
        contents: "import { nodeTransport } from 'campaign-client/node'; globalThis.started = nodeTransport",
        resolveDir: import.meta.dirname,
      },
      bundle: true,
      write: false,
      format: 'iife',
      conditions,
    })
    const page = createContext({})
    assert.throws(() => runInContext(outputFiles[0].text, page), /needs node:http.*Leave the transport option out/)
    assert.equal(page.started, undefined)
  })
}

test('a bundle of esbuild for Node keeps node:crypto', async () => {
  const entry = "export { signWebhook } from 'campaign-client/webhook'"
  const { outputFiles } = await esbuild.build({
    stdin: { contents: entry, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
  })
  assert.match(outputFiles[0].text, /node:crypto/)
})

test('a bundle of esbuild for Node may declare createRequire and require itself, as many do', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'esbuild-')), 'app.mjs')
  await esbuild.build({
    stdin: {
      contents: `import { signWebhook, verifyWebhook } from 'campaign-client/webhook'
        console.log(verifyWebhook('secret', 'body', signWebhook('secret', 'body')))`,
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    outfile: file,
    format: 'esm',
    platform: 'node',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  })
  assert.equal(execFileSync(process.execPath, [file], { encoding: 'utf8' }), 'true\n')
})

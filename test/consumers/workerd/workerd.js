import { spawn } from 'node:child_process'
import { build } from 'esbuild'

const WORKERD = 'node_modules/@cloudflare/workerd-linux-64/bin/workerd'

/** Bundles a program for Workers. */
export const bundle = (entry, outfile) =>
  build({
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    conditions: ['workerd', 'worker'],
    outfile,
    logLevel: 'silent',
  })

/** Starts workerd and returns its port. Stops it after the test. */
export async function startWorkerd(context, config, env) {
  const worker = spawn(WORKERD, ['serve', config, '--control-fd=3'], {
    env,
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  })
  context.after(() => worker.kill('SIGKILL'))
  return new Promise((resolve, reject) => {
    worker.once('exit', (code) => reject(new Error(`workerd ended with ${code}`)))
    worker.stdio[3].setEncoding('utf8').on('data', (text) => {
      const event = JSON.parse(text.trim().split('\n')[0])
      if (event.event === 'listen') resolve(event.port)
    })
  })
}

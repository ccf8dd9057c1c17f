import { defineConfig, type Options } from 'tsup'

/** What a partner can import; package.json names the same under `exports`. */
const entry = {
  index: 'src/index.ts',
  webhook: 'src/webhook/index.ts',
  'webhook/redis': 'src/webhook/stores/redis.ts',
  'webhook/postgres': 'src/webhook/stores/postgres/index.ts',
  schemas: 'src/schemas/index.ts',
  testing: 'src/testing/index.ts',
  'testing/msw': 'src/testing/msw.ts',
}

const { webhook, schemas, ...others } = entry

const common: Options = {
  format: ['esm', 'cjs'],
  target: 'es2022',
  platform: 'neutral',
  outDir: 'dist',
  sourcemap: true,
  // One copy of every module for all entries of a build.
  splitting: true,
  // Rollup writes the CommonJS chunks: tsup's own way, sucrase, turns `?.` into function calls and breaks on es2022.
  treeshake: true,
  external: [/^node:/, '#webhook', 'msw'],
  // ESM-only packages can't be required by Jest in CommonJS, so they travel inside our files. The part of zod that
  // reads answers does so for the sake of the start: importing zod's own files takes longer than all the rest.
  noExternal: ['ky', 'jose', '@noble/hashes', 'zod'],
  removeNodeProtocol: false,
}

/**
 * The webhook entry in one file, with one of the two HMACs. The importing runtime chooses the file, through `exports`
 * and, for our other entries, through `#webhook` in `imports`.
 */
const webhookWith = (hmac: 'node' | 'portable', name: string): Options => ({
  ...common,
  entry: { [name]: webhook },
  esbuildOptions(options) {
    options.alias = { '#hmac': `./src/webhook/verify/hmac.${hmac}.ts` }
  },
})

/** What the other entries share with the webhook entry they take from it: an error class must be one. */
const sharedWithWebhook: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'shared-with-webhook',
  setup(build) {
    build.onResolve({ filter: /\/(?:webhook\/index|shared\/campaign-error)\.ts$/ }, () => ({
      path: '#webhook',
      external: true,
    }))
  },
}

export default defineConfig([
  webhookWith('node', 'webhook'),
  webhookWith('portable', 'webhook.portable'),
  {
    ...common,
    entry: others,
    esbuildPlugins: [sharedWithWebhook],
    // Only ky asks in these words, at its start, for what it can offer. It gets no signal and no body from us, so it need
    // make no controller for each request, and importing it need not load `fetch`. A later ky that asks in other words
    // is slower, and a consumer project notices.
    define: Object.fromEntries(
      ['AbortController', 'ReadableStream', 'FormData'].map((name) => [`globalThis.${name}`, 'undefined']),
    ),
    dts: {
      entry,
      // TypeScript 6 refuses the baseUrl that tsup's declaration build passes on unless told so.
      compilerOptions: { ignoreDeprecations: '6.0', stripInternal: true },
    },
  },
  // Whoever imports the schemas works with zod, and gets those of the zod they have installed.
  { ...common, entry: { schemas }, noExternal: [] },
])

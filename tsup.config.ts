import { defineConfig, type Options } from 'tsup'

/** What a partner can import; package.json names the same under `exports`. */
const entry = {
  index: 'src/index.ts',
  webhook: 'src/webhook/index.ts',
  'webhook/redis': 'src/webhook/stores/redis.ts',
  'webhook/postgres': 'src/webhook/stores/postgres.ts',
  schemas: 'src/schemas/index.ts',
  testing: 'src/testing/index.ts',
  'testing/msw': 'src/testing/msw.ts',
}

const { schemas, ...entriesOfCode } = entry

const common: Options = {
  format: ['esm', 'cjs'],
  target: 'es2022',
  platform: 'neutral',
  outDir: 'dist',
  sourcemap: true,
  // One copy of every module for all entries, so that an error class is the same wherever it was imported from.
  splitting: true,
  // Rollup writes the CommonJS chunks: tsup's own way, sucrase, turns `?.` into function calls and breaks on es2022.
  treeshake: true,
  external: [/^node:/, '#hmac', 'msw'],
  removeNodeProtocol: false,
}

export default defineConfig([
  {
    ...common,
    entry: {
      ...entriesOfCode,
      // The two sides of `#hmac`: the importing runtime chooses, through the `imports` map of package.json.
      'hmac.node': 'src/webhook/hmac.node.ts',
      'hmac.portable': 'src/webhook/hmac.portable.ts',
    },
    // ESM-only packages can't be required by Jest in CommonJS, so they travel inside our files. The part of zod that
    // reads answers does so for the sake of the start: importing zod's own files takes longer than all the rest.
    noExternal: ['ky', 'jose', '@noble/hashes', 'zod'],
    dts: {
      entry,
      // TypeScript 6 refuses the baseUrl that tsup's declaration build passes on unless told so.
      compilerOptions: { ignoreDeprecations: '6.0', stripInternal: true },
    },
  },
  // Whoever imports the schemas works with zod, and gets those of the zod they have installed.
  { ...common, entry: { schemas } },
])

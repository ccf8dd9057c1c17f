import { defineConfig, type Options } from 'tsup'

const entry = {
  index: 'src/index.ts',
  webhook: 'src/webhook/index.ts',
  'webhook/redis': 'src/webhook/stores/redis.ts',
  'webhook/postgres': 'src/webhook/stores/postgres.ts',
  schemas: 'src/schemas/index.ts',
  testing: 'src/testing/index.ts',
  'testing/msw': 'src/testing/msw.ts',
  'hmac.node': 'src/webhook/hmac.node.ts',
  'hmac.portable': 'src/webhook/hmac.portable.ts',
}

const shared: Options = {
  outDir: 'dist',
  platform: 'neutral',
  // ESM-only packages can't be required by Jest in CommonJS, so they travel inside our files.
  noExternal: ['ky', 'jose', '@noble/hashes'],
  // `#hmac` is resolved by the importing runtime through the `imports` map of package.json.
  external: [/^node:/, '#hmac', 'zod', 'msw'],
  removeNodeProtocol: false,
  sourcemap: true,
  treeshake: false,
}

export default defineConfig([
  { ...shared, entry, format: 'esm', target: 'es2022', splitting: true, clean: true },
  // tsup's CommonJS splitting rewrites through sucrase, which breaks on es2022 class fields.
  { ...shared, entry, format: 'cjs', target: 'es2020', splitting: true },
  {
    entry,
    format: ['esm', 'cjs'],
    outDir: 'dist',
    external: ['zod', 'msw'],
    // TypeScript 6 refuses the baseUrl that tsup's declaration build passes on unless told so.
    dts: { only: true, compilerOptions: { ignoreDeprecations: '6.0', stripInternal: true } },
  },
])

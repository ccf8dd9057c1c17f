/** A module that partners can import. */
export interface EntryPoint {
  /** The key in `exports` of package.json. */
  readonly name: '.' | `./${string}`
  /** The source file with the exports. */
  readonly source: string
}

/** An internal module with two implementations. The runtime selects one by a condition in package.json. */
export interface RuntimeChoice {
  /** The key in `imports` of package.json. */
  readonly name: `#${string}`
  /** For Node, Bun and Deno. */
  readonly node: string
  /** For every other runtime. */
  readonly default: string
}

/** The program behind `npx campaign-client`. */
export interface Command {
  readonly name: string
  readonly source: string
}

/**
 * All entry points of the package. The build, vitest and knip read this list. `npm run generate entry-points` writes it to
 * package.json, tsconfig.base.json and typedoc.json.
 */
export const entryPoints: readonly EntryPoint[] = [
  { name: '.', source: 'src/index.ts' },
  { name: './webhook', source: 'src/webhook/index.ts' },
  { name: './webhook/redis', source: 'src/webhook/stores/redis-store.ts' },
  { name: './webhook/postgres', source: 'src/webhook/stores/postgres-store.ts' },
  { name: './webhook/sqlite', source: 'src/webhook/stores/sqlite-store.ts' },
  { name: './node', source: 'src/transports/node/index.ts' },
  { name: './bulk', source: 'src/bulk/index.ts' },
  { name: './bulk/postgres', source: 'src/bulk/postgres.ts' },
  { name: './schemas', source: 'src/endpoints/schemas.ts' },
  { name: './testing', source: 'src/testing/index.ts' },
  { name: './testing/msw', source: 'src/testing/msw.ts' },
]

export const runtimeChoices: readonly RuntimeChoice[] = [
  { name: '#crypto', node: 'src/webhook/crypto.node.ts', default: 'src/webhook/crypto.portable.ts' },
  {
    name: '#node-transport',
    node: 'src/transports/node/node-transport.ts',
    default: 'src/transports/node/unsupported-runtime.ts',
  },
]

export const command: Command = { name: 'campaign-client', source: 'src/cli/main.ts' }

/** Returns the path of an entry point in `dist`, without extension. */
export function outputOf({ name }: EntryPoint): string {
  return name === '.' ? 'index' : name.slice('./'.length)
}

/** Returns the path of an implementation in `dist`, without extension. */
export function choiceOutputOf({ name }: RuntimeChoice, side: 'node' | 'default'): string {
  return `${name.slice('#'.length)}.${side === 'node' ? 'node' : 'portable'}`
}

/** Returns the name under which partners import an entry point. */
export function specifierOf({ name }: EntryPoint, packageName = 'campaign-client'): string {
  return `${packageName}${name.slice('.'.length)}`
}

/** The source file of each name that code and tests import instead of a path. */
export const sourcesByName: Readonly<Record<string, string>> = Object.fromEntries([
  ...runtimeChoices.map((choice) => [choice.name, choice.node]),
  ...entryPoints.map((entry) => [specifierOf(entry), entry.source]),
])

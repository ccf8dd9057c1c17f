/** What a partner can import. */
export interface EntryPoint {
  /** As `exports` in package.json has it. */
  readonly name: '.' | `./${string}`
  /** The module that says what is exported. */
  readonly source: string
}

/** One name for several modules that do the same, of which the importing runtime takes the one made for it. */
export interface RuntimeChoice {
  /** As our own code imports it; `imports` in package.json has it. */
  readonly name: `#${string}`
  /** For Node, and for runtimes that call themselves so. */
  readonly node: string
  /** For all others. */
  readonly default: string
}

/** The program that `npx campaign-client` runs. */
export interface Command {
  readonly name: string
  readonly source: string
}

/**
 * The one table of what the package is entered by. The build, vitest and knip read it; what package.json, tsconfig.base.json
 * and typedoc.json say about it is written by `npm run generate entry-points`.
 */
export const entryPoints: readonly EntryPoint[] = [
  { name: '.', source: 'src/index.ts' },
  { name: './webhook', source: 'src/webhook/index.ts' },
  { name: './webhook/redis', source: 'src/webhook/stores/redis.ts' },
  { name: './webhook/postgres', source: 'src/webhook/stores/postgres/index.ts' },
  { name: './node', source: 'src/node/index.ts' },
  { name: './bulk', source: 'src/bulk/index.ts' },
  { name: './bulk/postgres', source: 'src/bulk/postgres/index.ts' },
  { name: './schemas', source: 'src/endpoints/schemas.ts' },
  { name: './testing', source: 'src/testing/index.ts' },
  { name: './testing/msw', source: 'src/testing/msw.ts' },
]

export const runtimeChoices: readonly RuntimeChoice[] = [
  { name: '#hmac', node: 'src/webhook/verify/hmac.node.ts', default: 'src/webhook/verify/hmac.portable.ts' },
  { name: '#node-transport', node: 'src/node/node-transport.ts', default: 'src/node/unavailable.ts' },
]

export const command: Command = { name: 'campaign-client', source: 'src/cli/main.ts' }

/** Where a module stands in `dist`, without extension. */
export function outputOf({ name }: EntryPoint): string {
  return name === '.' ? 'index' : name.slice('./'.length)
}

/** The same for one side of a choice. */
export function choiceOutputOf({ name }: RuntimeChoice, side: 'node' | 'default'): string {
  return `${name.slice('#'.length)}.${side === 'node' ? 'node' : 'portable'}`
}

/** By what name an entry point is imported. */
export function specifierOf({ name }: EntryPoint, packageName = 'campaign-client'): string {
  return `${packageName}${name.slice('.'.length)}`
}

/** Every name that our own code and tests may import instead of a path, and the module it stands for here. */
export const sourcesByName: Readonly<Record<string, string>> = Object.fromEntries([
  ...runtimeChoices.map((choice) => [choice.name, choice.node]),
  ...entryPoints.map((entry) => [specifierOf(entry), entry.source]),
])

import { readdirSync } from 'node:fs'
import { formatted, pathTo, read } from '../repository.ts'
import type { Generator } from './generator.ts'

const ROOM = 'src/endpoints'

/**
 * What the files of operations export besides: types for the root, schemas for `campaign-client/schemas`, and the pairs of
 * both for the test that holds them together.
 */
export const endpointExports: Generator = {
  name: 'endpoint-exports',
  generate() {
    const modules = operationModules()
    const schemas = modules.flatMap(schemasOf)
    return new Map([
      written(
        `${ROOM}/operations.ts`,
        modules.map((module) => `export * from './${module}.ts'`),
      ),
      written(
        `${ROOM}/types.ts`,
        modules.map((module) => `export type { ${typesOf(module).join(', ')} } from './${module}.ts'`),
      ),
      written('test/schemas/type-by-schema.ts', [
        "import type * as campaign from 'campaign-client'\n",
        '/** The type of every schema of an operation, by the rule that the README states: the same name in lower camel case. */',
        'export interface TypeBySchema {',
        ...schemas.map((name) => `  ${name}: campaign.${name.charAt(0).toUpperCase()}${name.slice(1)}`),
        '}',
      ]),
    ])
  },
}

/** The files that describe an operation: those that export one by default. */
const operationModules = (): string[] =>
  readdirSync(pathTo(ROOM))
    .map((file) => file.replace(/\.ts$/, ''))
    .filter((module) => /^export default /m.test(read(`${ROOM}/${module}.ts`)))
    .sort()

const namesOf = (module: string, declaration: RegExp): string[] =>
  [...read(`${ROOM}/${module}.ts`).matchAll(declaration)].map(([, name = '']) => name).sort()
const typesOf = (module: string): string[] => namesOf(module, /^export (?:interface|type) (\w+)/gm)
const schemasOf = (module: string): string[] => namesOf(module, /^export const (\w+)/gm)

const written = (file: string, lines: readonly string[]): [string, string] => [
  file,
  formatted(file, ['// Written by `npm run generate`, from the files of the operations.', ...lines].join('\n')),
]

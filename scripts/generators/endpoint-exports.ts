import { readdirSync } from 'node:fs'
import { formatted, pathTo, read } from '../repository.ts'
import type { Generator } from './generator.ts'

const FOLDER = 'src/endpoints'

/**
 * Writes the lists of operations: the catalogue, the rules of the local service, the exported types and schemas, and the
 * type of each schema for a test.
 */
export const endpointExports: Generator = {
  name: 'endpoint-exports',
  generate() {
    const modules = operationModules()
    const schemas = modules.flatMap(schemasOf)
    const inOrder = modules.map(operationOf).sort((a, b) => positionOf(a) - positionOf(b))
    return new Map([
      fileOf(`${FOLDER}/catalogue.ts`, [
        ...modules.map((module) => `import ${operationOf(module)} from './${module}.ts'`),
        '\n/** All operations of the service, in the order of the interface. */',
        `export const endpoints = { ${inOrder.join(', ')} } as const`,
      ]),
      fileOf('src/testing/rules/index.ts', [
        "import type { OperationName } from '../../endpoints/index.ts'",
        ...modules.map((module) => `import { ${operationOf(module)} } from './${module}.ts'`),
        "import type { Rule } from './rule.ts'",
        '\n/** The rule of each operation. Interface: [Endpoints](/the-service#endpoints). */',
        `export const rules: { readonly [Name in OperationName]: Rule<Name> } = { ${inOrder.join(', ')} }`,
      ]),
      fileOf(
        `${FOLDER}/operations.ts`,
        modules.map((module) => `export * from './${module}.ts'`),
      ),
      fileOf(
        `${FOLDER}/types.ts`,
        modules.map((module) => `export type { ${typesOf(module).join(', ')} } from './${module}.ts'`),
      ),
      fileOf('test/schemas/type-by-schema.ts', [
        "import type * as campaign from 'campaign-client'\n",
        '/** The type of every schema, by the name of the schema. */',
        'export interface TypeBySchema {',
        ...schemas.map((name) => `  ${name}: campaign.${name.charAt(0).toUpperCase()}${name.slice(1)}`),
        '}',
      ]),
    ])
  },
}

/** Returns the files that define an operation: those with a default export. */
const operationModules = (): string[] =>
  readdirSync(pathTo(FOLDER))
    .map((file) => file.replace(/\.ts$/, ''))
    .filter((module) => /^export default /m.test(read(`${FOLDER}/${module}.ts`)))
    .sort()

/** Returns the name of an operation: its file name in camel case. */
const operationOf = (module: string): string => module.replace(/-\w/g, (part) => part.charAt(1).toUpperCase())

/** Returns the position of a method in the client, whose methods are in the order of the interface. */
const positionOf = (operation: string): number => {
  const position = read('src/client.ts').indexOf(`\n  ${operation}(request: `)
  return position < 0 ? Number.MAX_SAFE_INTEGER : position
}

const namesOf = (module: string, declaration: RegExp): string[] =>
  [...read(`${FOLDER}/${module}.ts`).matchAll(declaration)].map(([, name = '']) => name).sort()
const typesOf = (module: string): string[] => namesOf(module, /^export (?:interface|type) (\w+)/gm)
const schemasOf = (module: string): string[] => namesOf(module, /^export const (\w+)/gm)

const fileOf = (file: string, lines: readonly string[]): [string, string] => [
  file,
  formatted(
    file,
    ['// Written by `npm run generate endpoint-exports` from the files in src/endpoints.', ...lines].join('\n'),
  ),
]

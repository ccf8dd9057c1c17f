import { readdirSync } from 'node:fs'
import { formatted, pathTo, read } from '../repository.ts'
import type { Generator } from './generator.ts'

const ROOM = 'src/endpoints'

/**
 * Lists of what the files of operations hold: the catalogue, the rules of the box, types for the root, schemas for
 * `campaign-client/schemas`, and the pairs of both for the test that holds them together.
 */
export const endpointExports: Generator = {
  name: 'endpoint-exports',
  generate() {
    const modules = operationModules()
    const schemas = modules.flatMap(schemasOf)
    const inOrder = modules.map(operationOf).sort((one, other) => placeOf(one) - placeOf(other))
    return new Map([
      written(`${ROOM}/catalogue.ts`, [
        ...modules.map((module) => `import ${operationOf(module)} from './${module}.ts'`),
        '\n/** The catalogue: every operation of the service, once, in the order of the interface. */',
        `export const endpoints = { ${inOrder.join(', ')} } as const`,
      ]),
      written('src/testing/rules/index.ts', [
        "import type { OperationName } from '../../endpoints/index.ts'",
        ...modules.map((module) => `import { ${operationOf(module)} } from './${module}.ts'`),
        "import type { Rule } from './rule.ts'",
        '\n/** What each operation does. Interface: [Endpoints](../../../docs/the-service.md#endpoints). */',
        `export const rules: { readonly [Name in OperationName]: Rule<Name> } = { ${inOrder.join(', ')} }`,
      ]),
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

/** The name of an operation is that of its file in camel case, and that of its method. */
const operationOf = (module: string): string => module.replace(/-\w/g, (part) => part.charAt(1).toUpperCase())

/** Where its method stands in the client, whose methods are in the order of the interface. */
const placeOf = (operation: string): number => {
  const place = read('src/client.ts').indexOf(`\n  ${operation}(request: `)
  return place < 0 ? Number.MAX_SAFE_INTEGER : place
}

const namesOf = (module: string, declaration: RegExp): string[] =>
  [...read(`${ROOM}/${module}.ts`).matchAll(declaration)].map(([, name = '']) => name).sort()
const typesOf = (module: string): string[] => namesOf(module, /^export (?:interface|type) (\w+)/gm)
const schemasOf = (module: string): string[] => namesOf(module, /^export const (\w+)/gm)

const written = (file: string, lines: readonly string[]): [string, string] => [
  file,
  formatted(file, ['// Written by `npm run generate`, from the files of the operations.', ...lines].join('\n')),
]

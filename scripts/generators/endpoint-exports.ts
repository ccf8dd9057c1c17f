import { readdirSync } from 'node:fs'
import { formatted, pathTo, read } from '../repository.ts'
import type { Generator } from './generator.ts'

const ROOM = 'src/endpoints'

/** What the files of operations export besides: types for the root, schemas for `campaign-client/schemas`. */
export const endpointExports: Generator = {
  name: 'endpoint-exports',
  generate() {
    const modules = operationModules()
    return new Map([
      written(
        'operations.ts',
        modules.map((module) => `export * from './${module}.ts'`),
      ),
      written(
        'types.ts',
        modules.map((module) => `export type { ${typesOf(module).join(', ')} } from './${module}.ts'`),
      ),
    ])
  },
}

/** The files that describe an operation: those that export one by default. */
const operationModules = (): string[] =>
  readdirSync(pathTo(ROOM))
    .map((file) => file.replace(/\.ts$/, ''))
    .filter((module) => /^export default /m.test(read(`${ROOM}/${module}.ts`)))
    .sort()

const typesOf = (module: string): string[] =>
  [...read(`${ROOM}/${module}.ts`).matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name = '']) => name).sort()

function written(name: string, lines: readonly string[]): [string, string] {
  const file = `${ROOM}/${name}`
  return [
    file,
    formatted(file, ['// Written by `npm run generate`, from the files of the operations.', ...lines].join('\n')),
  ]
}

import { endpoints, type OperationName } from '../../src/endpoints/index.ts'
import { Project, plain, withoutAssumption } from '../comments.ts'
import { requestName } from '../openapi/document.ts'
import { formatted } from '../repository.ts'
import type { Generator } from './generator.ts'

const FILE = 'src/endpoints/argument-descriptions.ts'

/** Writes the comments of the request types for the code that shows them: the command's help and the console's forms. */
export const argumentDescriptions: Generator = {
  name: 'argument-descriptions',
  generate: () => new Map([[FILE, formatted(FILE, sourceOf(descriptions()))]]),
}

function descriptions(): Record<string, Record<string, string>> {
  const operations = Object.keys(endpoints) as OperationName[]
  return Object.fromEntries(operations.map((operation) => [operation, descriptionsOf(requestName(operation))]))
}

function descriptionsOf(request: string): Record<string, string> {
  return Object.fromEntries(
    [...Project.current.members(request)].map(([field, { description }]) => {
      if (description === '') throw new Error(`${request}.${field} has no comment`)
      return [field, withoutAssumption(plain(description))]
    }),
  )
}

const sourceOf = (content: object): string => `import type { OperationName } from './index.ts'

/**
 * The description of each argument of each operation, as Markdown. \`npm run generate\` writes this file from the comments of
 * the request types: change those.
 */
export const argumentDescriptions: Readonly<Record<OperationName, Readonly<Record<string, string>>>> = ${JSON.stringify(content)}
`

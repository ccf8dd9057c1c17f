import type { $ZodObject, $ZodOptional } from 'zod/v4/core'
import { argumentDescriptions } from './argument-descriptions.ts'
import { exampleRequests } from './example-requests.ts'
import { endpoints, type OperationName } from './index.ts'

/** An argument of an operation, for help and forms. */
export interface Argument {
  /** The name of the field of the request. */
  readonly name: string
  readonly isNumber: boolean
  readonly isOptional: boolean
  /** Whether the value must not be shown. */
  readonly isSecret: boolean
  /** The comment of the field in the request type, as Markdown. */
  readonly description: string
  readonly example: string | number
}

const SECRETS: ReadonlySet<string> = new Set(['secret'])

/** Returns the arguments of an operation, in the order of its request schema. */
export function argumentsOf(operation: OperationName): readonly Argument[] {
  const { shape } = (endpoints[operation].request as unknown as $ZodObject)._zod.def
  const examples = exampleRequests[operation] as Readonly<Record<string, string | number>>
  return Object.entries(shape).map(([name, schema]) => {
    const isOptional = schema._zod.def.type === 'optional'
    const { type } = isOptional ? (schema as $ZodOptional)._zod.def.innerType._zod.def : schema._zod.def
    const description = argumentDescriptions[operation][name] ?? ''
    const example = examples[name] ?? ''
    return { name, isNumber: type === 'number', isOptional, isSecret: SECRETS.has(name), description, example }
  })
}

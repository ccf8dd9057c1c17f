import type { $ZodObject, $ZodOptional, $ZodType } from 'zod/v4/core'
import { endpoints, type OperationName } from '../endpoints/index.ts'

/** An argument of an operation, as a flag needs it. */
export interface Argument {
  /** As on the wire, and as the method takes it. */
  readonly name: string
  readonly isNumber: boolean
  readonly isOptional: boolean
}

/** What the catalogue says about the arguments of an operation. */
export function argumentsOf(operation: OperationName): readonly Argument[] {
  const { shape } = (endpoints[operation].request as unknown as $ZodObject)._zod.def
  return Object.entries(shape).map(([name, schema]) => ({
    name,
    isNumber: unwrap(schema)._zod.def.type === 'number',
    isOptional: schema._zod.def.type === 'optional',
  }))
}

const unwrap = (schema: $ZodType): $ZodType =>
  schema._zod.def.type === 'optional' ? unwrap((schema as $ZodOptional)._zod.def.innerType) : schema

import type { $ZodType, $ZodTypes } from 'zod/v4/core'
import * as schemas from '../../src/endpoints/schemas.ts'
import { isMetadata } from '../../src/schemas/fields.ts'
import { formatted } from '../repository.ts'
import type { Generator } from './generator.ts'

const FILE = 'src/schemas/compiled-checks.ts'

/** The schemas to compile. User progress is large and often read; zod is fast enough for all other answers. */
const COMPILED = { userProgress: schemas.userProgress }

const HEADER = `// Written by \`npm run generate compiled-checks\` from the schemas in src/endpoints.
// A test compares the results of these functions with those of zod.
// zod can compile schemas at runtime only with \`new Function\`, which Workers forbid.
import { isMetadata } from './fields.ts'

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown): boolean => typeof value === 'string'
const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value)
`

/** Writes functions that check a value several times faster than zod. */
export const compiledChecks: Generator = {
  name: 'compiled-checks',
  generate: () => new Map([[FILE, formatted(FILE, `${HEADER}\n${checksOf(COMPILED)}`)]]),
}

/**
 * Returns the code of one function per schema and nested schema.
 *
 * @throws Error when the generator does not support a schema
 */
export function checksOf(compiled: Readonly<Record<string, $ZodType>>): string {
  const checks = new Checks()
  for (const [name, schema] of Object.entries(compiled)) checks.nameOf(schema, name, true)
  return checks.code.join('\n')
}

/** Generates one function per object schema. */
class Checks {
  readonly code: string[] = []
  readonly #names = new Map<$ZodType, string>()

  /** Returns the name of the function for a schema. A schema that is not exported is named after `place`. */
  nameOf(schema: $ZodType, place: string, exported = false): string {
    const known = this.#names.get(schema)
    if (known !== undefined) return known
    const schemaName = Object.entries(schemas).find(([, other]) => other === schema)?.[0] ?? place
    const name = `is${schemaName.charAt(0).toUpperCase()}${schemaName.slice(1)}`
    this.#names.set(schema, name)
    const conditions = this.#fields(schema, place)
    this.code.push(
      `/** Whether the value fits the schema \`${schemaName}\`. */`,
      `${exported ? 'export ' : ''}function ${name}(value: unknown): boolean {`,
      `return ${['isObject(value)', ...conditions].join(' && ')}`,
      '}\n',
    )
    return name
  }

  #fields(schema: $ZodType, place: string): string[] {
    const { def } = (schema as $ZodTypes)._zod
    if (def.type !== 'object' || def.catchall?._zod.def.type !== 'unknown' || hasChecks(schema)) {
      throw unsupported(place, schema)
    }
    return Object.entries(def.shape).map(([field, inner]) =>
      this.#condition(inner, `value.${field}`, `${place}${field.charAt(0).toUpperCase()}${field.slice(1)}`),
    )
  }

  #condition(schema: $ZodType, value: string, place: string): string {
    const { def } = (schema as $ZodTypes)._zod
    if (def.type === 'optional') {
      return `(${value} === undefined || ${this.#condition(def.innerType, value, place)})`
    }
    return `${this.#test(schema, place)}(${value})`
  }

  /** Returns the name of the function that checks a value. */
  #test(schema: $ZodType, place: string): string {
    const { def } = (schema as $ZodTypes)._zod
    if (def.type === 'custom' && def.fn === isMetadata) return 'isMetadata'
    if (hasChecks(schema)) throw unsupported(place, schema)
    if (def.type === 'string') return 'isText'
    if (def.type === 'number') return 'isNumber'
    if (def.type === 'object') return this.nameOf(schema, place)
    if (def.type === 'array') return this.#ofArray(this.#test(def.element, `${place}Item`))
    throw unsupported(place, schema)
  }

  /** Generates a loop, because `every` skips the holes of a sparse array. */
  #ofArray(test: string): string {
    const name = `${test}List`
    const known = this.code.some((line) => line.startsWith(`function ${name}(`))
    if (!known) {
      this.code.push(
        `function ${name}(value: unknown): boolean {`,
        'if (!Array.isArray(value)) return false',
        `for (const item of value) if (!${test}(item)) return false`,
        'return true',
        '}\n',
      )
    }
    return name
  }
}

const hasChecks = (schema: $ZodType): boolean => (schema._zod.def.checks ?? []).length > 0

/** Returns the error for a schema that a generated function cannot check completely. */
function unsupported(place: string, schema: $ZodType): Error {
  return new Error(`${place}: the generator of ${FILE} does not support this schema of type ${schema._zod.def.type}`)
}

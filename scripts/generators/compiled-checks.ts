import type { $ZodType, $ZodTypes } from 'zod/v4/core'
import * as schemas from '../../src/endpoints/schemas.ts'
import { isMetadata } from '../../src/schemas/fields.ts'
import { formatted } from '../repository.ts'
import type { Generator } from './generator.ts'

const FILE = 'src/schemas/compiled.ts'

/** The answer that grows with a campaign and is asked for again and again; zod reads the others fast enough. */
const COMPILED = { userProgress: schemas.userProgress }

const HEADER = `// Written by \`npm run generate compiled-checks\` from the schemas of src/endpoints, which stay the truth: a test holds both to the
// same verdict. zod makes such code in the running process, with \`new Function\`, which content security policies and
// Workers forbid.
import { isMetadata } from './fields.ts'

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown): boolean => typeof value === 'string'
const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value)
`

/** Plain checks in place of the interpreter of schemas, for what is read often and is large. */
export const compiledChecks: Generator = {
  name: 'compiled-checks',
  generate: () => new Map([[FILE, formatted(FILE, `${HEADER}\n${checksOf(COMPILED)}`)]]),
}

/**
 * The code of a function for each schema, and for those it is made of.
 *
 * @throws Error when a schema asks for something that the code would not
 */
export function checksOf(compiled: Readonly<Record<string, $ZodType>>): string {
  const checks = new Checks()
  for (const [name, schema] of Object.entries(compiled)) checks.nameOf(schema, name, true)
  return checks.code.join('\n')
}

/** One function for each schema of an object, named as the schema is exported. */
class Checks {
  readonly code: string[] = []
  readonly #names = new Map<$ZodType, string>()

  /** The name of the function that tells whether a value fits. `place` names a schema that is not exported. */
  nameOf(schema: $ZodType, place: string, exported = false): string {
    const known = this.#names.get(schema)
    if (known !== undefined) return known
    const schemaName = Object.entries(schemas).find(([, other]) => other === schema)?.[0] ?? place
    const name = `is${schemaName.charAt(0).toUpperCase()}${schemaName.slice(1)}`
    this.#names.set(schema, name)
    const conditions = this.#fields(schema, place)
    this.code.push(
      `/** Whether a value is one that the schema \`${schemaName}\` reads, as it is. */`,
      `${exported ? 'export ' : ''}function ${name}(value: unknown): boolean {`,
      `return ${['isObject(value)', ...conditions].join(' && ')}`,
      '}\n',
    )
    return name
  }

  #fields(schema: $ZodType, place: string): string[] {
    const { def } = (schema as $ZodTypes)._zod
    if (def.type !== 'object' || def.catchall?._zod.def.type !== 'unknown' || hasChecks(schema)) {
      throw inexpressible(place, schema)
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

  /** The name of what tests a value of that schema, or an expression in its place. */
  #test(schema: $ZodType, place: string): string {
    const { def } = (schema as $ZodTypes)._zod
    if (def.type === 'custom' && def.fn === isMetadata) return 'isMetadata'
    if (hasChecks(schema)) throw inexpressible(place, schema)
    if (def.type === 'string') return 'isText'
    if (def.type === 'number') return 'isNumber'
    if (def.type === 'object') return this.nameOf(schema, place)
    if (def.type === 'array') return this.#ofArray(this.#test(def.element, `${place}Item`))
    throw inexpressible(place, schema)
  }

  /** `every` would pass over the holes of a sparse array, which are no items of the schema. */
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

/** Nothing is left out in silence: the interpreter would refuse what the code lets through. */
function inexpressible(place: string, schema: $ZodType): Error {
  return new Error(`${place}: ${FILE} cannot express a schema of type ${schema._zod.def.type} with what it asks for`)
}

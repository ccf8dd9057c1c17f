import ts from 'typescript'
import { type Project, plain } from '../comments.ts'
import type { Schema } from './message-schemas.ts'

/** Converts TypeScript types to JSON Schemas, with descriptions from their comments. Types become part of the schema: no `$ref`. */
export class TypeSchemas {
  readonly #project: Project
  readonly #checker: ts.TypeChecker

  constructor(project: Project) {
    this.#project = project
    this.#checker = project.checker
  }

  /** Returns the schema of an interface, or of one of its fields. @throws Error when there is none */
  of(name: string, field?: string): Schema {
    const declaration = this.#project.declaration(name)
    const type = this.#checker.getTypeAtLocation(declaration)
    if (field === undefined) return this.#ofType(type, declaration)
    const symbol = type.getProperty(field)
    if (!symbol) throw new Error(`${name} has no field ${field}`)
    return this.#ofType(this.#checker.getTypeOfSymbolAtLocation(symbol, declaration), declaration)
  }

  /** Returns the fields of an interface. */
  fieldsOf(name: string): readonly string[] {
    const type = this.#checker.getTypeAtLocation(this.#project.declaration(name))
    return type.getProperties().map((symbol) => symbol.name)
  }

  #ofType(type: ts.Type, at: ts.Node): Schema {
    if (type.isUnion()) return this.#ofUnion(type, at)
    if (type.isStringLiteral()) return { const: type.value }
    if (type.flags & ts.TypeFlags.String) return { type: 'string' }
    if (type.flags & ts.TypeFlags.Number) return { type: 'number' }
    if (type.flags & ts.TypeFlags.Boolean) return { type: 'boolean' }
    if (type.flags & (ts.TypeFlags.Unknown | ts.TypeFlags.Any)) return {}
    const [element] = this.#checker.isArrayType(type) ? this.#checker.getTypeArguments(type as ts.TypeReference) : []
    if (element) return { type: 'array', items: this.#ofType(element, at) }
    return this.#ofObject(type, at)
  }

  #ofUnion(type: ts.UnionType, at: ts.Node): Schema {
    const parts = type.types.filter((part) => !(part.flags & ts.TypeFlags.Undefined))
    if (parts.every((part) => part.isStringLiteral())) return { enum: parts.map(({ value }) => value) }
    if (parts.every((part) => part.flags & ts.TypeFlags.BooleanLiteral)) return { type: 'boolean' }
    const schemas = parts.map((part) => this.#ofType(part, at))
    return schemas.length === 1 ? (schemas[0] as Schema) : { anyOf: schemas }
  }

  #ofObject(type: ts.Type, at: ts.Node): Schema {
    const [values] = this.#checker.getIndexInfosOfType(type)
    const fields = type.getProperties().map((symbol) => {
      const description = plain(ts.displayPartsToString(symbol.getDocumentationComment(this.#checker)))
      const schema = this.#ofType(this.#checker.getTypeOfSymbolAtLocation(symbol, at), at)
      const isOptional = (symbol.flags & ts.SymbolFlags.Optional) !== 0
      return { name: symbol.name, isOptional, schema: description === '' ? schema : { ...schema, description } }
    })
    const required = fields.filter(({ isOptional }) => !isOptional).map(({ name }) => name)
    return {
      type: 'object',
      ...(fields.length > 0 && { properties: Object.fromEntries(fields.map(({ name, schema }) => [name, schema])) }),
      ...(required.length > 0 && { required }),
      ...(values && { additionalProperties: this.#ofType(values.type, at) }),
    }
  }
}

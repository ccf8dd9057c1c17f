import ts from 'typescript'
import { type Project, plain } from '../comments.ts'

/** A JSON Schema. */
export type Schema = Record<string, unknown>

/** Converts the TypeScript types of the webhook messages to JSON Schemas. */
export class TypeSchemas {
  /** The schemas of named types. */
  readonly named = new Map<string, Schema>()
  readonly #project: Project
  readonly #checker: ts.TypeChecker

  constructor(project: Project) {
    this.#project = project
    this.#checker = project.checker
  }

  /** Returns the schema of a field of an interface. @throws Error when there is no such field */
  ofField(name: string, field: string): Schema {
    const declaration = this.#project.declaration(name)
    const symbol = this.#checker.getTypeAtLocation(declaration).getProperty(field)
    if (!symbol) throw new Error(`${name} has no field ${field}`)
    return this.#ofType(this.#checker.getTypeOfSymbolAtLocation(symbol, declaration))
  }

  #ofType(type: ts.Type): Schema {
    if (type.isUnion()) return this.#ofUnion(type)
    if (type.isStringLiteral()) return { const: type.value, type: 'string' }
    if (type.flags & ts.TypeFlags.String) return { type: 'string' }
    if (type.flags & ts.TypeFlags.Number) return { type: 'number' }
    if (type.flags & ts.TypeFlags.Boolean) return { type: 'boolean' }
    if (type.flags & ts.TypeFlags.Null) return { type: 'null' }
    if (type.flags & ts.TypeFlags.Unknown) return {}
    const name = nameOf(type)
    if (name === undefined) return this.#ofObject(type)
    if (!this.named.has(name)) {
      this.named.set(name, {})
      this.named.set(name, this.#ofObject(type))
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  #ofUnion(type: ts.UnionType): Schema {
    const parts = type.types.filter((part) => !(part.flags & ts.TypeFlags.Undefined))
    const schemas = parts.map((part) => this.#ofType(part))
    const [only] = schemas
    if (only && schemas.length === 1) return only
    const isNullable = schemas.length === 2 && schemas.some(({ type }) => type === 'null')
    const other = schemas.find(({ type }) => type !== 'null')
    if (isNullable && typeof other?.type === 'string') return { ...other, type: [other.type, 'null'] }
    return { anyOf: schemas }
  }

  #ofObject(type: ts.Type): Schema {
    const properties: Record<string, Schema> = {}
    const required: string[] = []
    for (const symbol of type.getProperties()) {
      const declaration = symbol.valueDeclaration ?? symbol.declarations?.[0]
      if (!declaration) continue
      const description = plain(ts.displayPartsToString(symbol.getDocumentationComment(this.#checker)))
      const schema = this.#ofType(this.#checker.getTypeOfSymbolAtLocation(symbol, declaration))
      properties[symbol.name] = description === '' ? schema : { ...schema, description }
      if (!(symbol.flags & ts.SymbolFlags.Optional)) required.push(symbol.name)
    }
    return {
      type: 'object',
      ...(Object.keys(properties).length > 0 && { properties }),
      ...(required.length > 0 && { required }),
      additionalProperties: {},
    }
  }
}

/** Returns the name of a type alias of an object literal without type parameters; otherwise `undefined`. */
function nameOf(type: ts.Type): string | undefined {
  const declaration = type.aliasSymbol?.declarations?.[0]
  if (declaration === undefined || !ts.isTypeAliasDeclaration(declaration)) return undefined
  const isLiteral = ts.isTypeLiteralNode(declaration.type) && !declaration.typeParameters?.length
  return isLiteral ? declaration.name.text : undefined
}

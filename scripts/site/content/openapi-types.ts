import type { Schema } from './openapi-document.ts'

/** A schema in a few words, with links to the schemas that it names: `list of [TaskEntry](#taskentry)`. */
export function typeOf(schema: Schema | undefined): string {
  if (schema === undefined) return ''
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)
    return `[\`${name}\`](openapi.schemas.json#${name.toLowerCase()})`
  }
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeOf))].join(' or ')
  if (schema.const !== undefined) return literal(schema.const)
  if (schema.enum !== undefined) return schema.enum.map(literal).join(', ')
  if (schema.type === 'array') return `list of ${typeOf(schema.items) || 'anything'}`
  if (schema.type === 'object' && schema.properties !== undefined) return fieldsOf(schema.properties)
  const types = schema.type === undefined ? 'anything' : [schema.type].flat().join(' or ')
  return schema.format === undefined ? types : `${types} (${schema.format})`
}

function fieldsOf(properties: Readonly<Record<string, Schema>>): string {
  const fields = Object.entries(properties).map(([name, field]) => `\`${name}\`: ${typeOf(field)}`)
  return `object of ${fields.join(', ')}`
}

const literal = (value: unknown): string => `\`${JSON.stringify(value)}\``

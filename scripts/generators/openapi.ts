import { openApiDocument } from '../openapi/document.ts'
import { read } from '../repository.ts'
import type { Generator } from './generator.ts'

/** The description of the service for the tools of others. */
export const openApi: Generator = {
  name: 'openapi',
  async generate() {
    const { version } = JSON.parse(read('package.json')) as { version: string }
    return new Map([['docs/openapi.json', `${lines(await openApiDocument(version))}\n`]])
  },
}

const WIDTH = 200

/** JSON in which what fits on a line stands on one. */
function lines(value: unknown, indentation = ''): string {
  const line = JSON.stringify(value)
  if (typeof value !== 'object' || value === null || indentation.length + line.length <= WIDTH) return line
  const inner = `${indentation} `
  if (Array.isArray(value))
    return enclosed(
      '[]',
      value.map((item) => lines(item, inner)),
      indentation,
    )
  // JSON knows no field that is undefined.
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return enclosed(
    '{}',
    fields.map(([name, field]) => `${JSON.stringify(name)}: ${lines(field, inner)}`),
    indentation,
  )
}

const enclosed = ([open, close]: string, parts: readonly string[], indentation: string): string =>
  `${open}\n${parts.map((part) => `${indentation} ${part}`).join(',\n')}\n${indentation}${close}`

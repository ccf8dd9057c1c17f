import { formatJson } from '../format-json.ts'
import { openApiDocument } from '../openapi/document.ts'
import { read } from '../repository.ts'
import type { Generator } from './generator.ts'

const WIDTH = 200

/** Writes the OpenAPI description of the service. */
export const openApi: Generator = {
  name: 'openapi',
  async generate() {
    const { version } = JSON.parse(read('package.json')) as { version: string }
    return new Map([['docs/openapi.json', `${formatJson(await openApiDocument(version), WIDTH)}\n`]])
  },
}

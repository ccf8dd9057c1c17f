import { formatJson } from '../format-json.ts'
import { openApiDocument } from '../openapi/document.ts'
import { localServiceDocument, seedDocument } from '../openapi/local-service.ts'
import { read } from '../repository.ts'
import type { Generator } from './generator.ts'

const WIDTH = 200

/** Writes the OpenAPI documents of the service and of the local service, and the JSON Schema of seeds. */
export const openApi: Generator = {
  name: 'openapi',
  async generate() {
    const { version } = JSON.parse(read('package.json')) as { version: string }
    const documents = {
      'docs/openapi.json': await openApiDocument(version),
      'docs/local-service.openapi.json': localServiceDocument(version),
      'docs/local-service.seed.schema.json': seedDocument(),
    }
    return new Map(Object.entries(documents).map(([file, document]) => [file, `${formatJson(document, WIDTH)}\n`]))
  },
}

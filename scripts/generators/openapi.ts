import { openApiDocument } from '../openapi/document.ts'
import { read } from '../repository.ts'
import type { Generator } from './generator.ts'

/** The description of the service for the tools of others. */
export const openApi: Generator = {
  name: 'openapi',
  async generate() {
    const { version } = JSON.parse(read('package.json')) as { version: string }
    return new Map([['docs/openapi.json', `${JSON.stringify(await openApiDocument(version), null, 1)}\n`]])
  },
}

import { jsonLines } from '../json-lines.ts'
import { openApiDocument } from '../openapi/document.ts'
import { read } from '../repository.ts'
import type { Generator } from './generator.ts'

const WIDTH = 200

/** The description of the service for the tools of others. */
export const openApi: Generator = {
  name: 'openapi',
  async generate() {
    const { version } = JSON.parse(read('package.json')) as { version: string }
    return new Map([['docs/openapi.json', `${jsonLines(await openApiDocument(version), WIDTH)}\n`]])
  },
}

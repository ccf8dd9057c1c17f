/** Writes docs/openapi.json anew: `npm run openapi`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { openApiDocument } from './openapi.ts'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
const file = new URL('../openapi.json', import.meta.url)
writeFileSync(file, `${JSON.stringify(await openApiDocument(version), null, 2)}\n`)

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const program = (name: string): string => fileURLToPath(new URL(`node_modules/.bin/${name}`, import.meta.url))

/** Tools that read docs/openapi.json. `npm ci --prefix test/openapi` installs them. */
export const redocly = program('redocly')
export const prism = program('prism')
export const openapiTypescript = program('openapi-typescript')

/** Why tests are skipped; `undefined` if the tools are installed. */
export const missingTools = [redocly, prism, openapiTypescript].every((file) => existsSync(file))
  ? undefined
  : 'npm ci --prefix test/openapi has not been run'

export const documentPath = fileURLToPath(new URL('../../docs/openapi.json', import.meta.url))

/** Runs before `npm publish`, and refuses it while a reader of the registry's page could not reach the owner. */
import { read } from './repository.ts'

/** What the owner has to set before a release: fields of package.json, and an address in SECURITY.md. */
export function missingForPublish(manifest: Readonly<Record<string, unknown>>, security: string): string[] {
  const fields = ['repository', 'homepage', 'bugs'].filter((field) => !manifest[field])
  const hasAddress = /\bhttps:\/\/\S+|\b[\w.+-]+@[\w-]+\.\w+/.test(security.split(/^## /m)[1] ?? '')
  return [
    ...fields.map((field) => `package.json has no "${field}"`),
    ...(hasAddress ? [] : ['SECURITY.md has no address for reports (a URL or an e-mail address)']),
  ]
}

if (process.env.npm_lifecycle_event === 'prepublishOnly') {
  const missing = missingForPublish(JSON.parse(read('package.json')), read('SECURITY.md'))
  for (const line of missing) console.error(`publish refused: ${line}`)
  if (missing.length > 0) process.exitCode = 1
}

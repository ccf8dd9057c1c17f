/** Runs before `npm publish`. Fails if package.json has no repository or SECURITY.md has no address for reports. */
import { read } from './repository.ts'

/** Returns the problems that prevent a release. */
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

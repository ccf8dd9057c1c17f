import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../packed-package.ts'
import type { PackageCheck } from './finding.ts'

export const NOTICES = 'THIRD-PARTY-NOTICES.md'

/** Checks that the notices list exactly the packages whose code is in the build. */
export const checkNotices: PackageCheck = {
  title: `${NOTICES} has the licence of every bundled package`,
  async run(packed) {
    const shipped = join(packed.directory, NOTICES)
    const isCurrent = existsSync(shipped) && readFileSync(shipped, 'utf8') === notices()
    const problems = isCurrent ? [] : [`${NOTICES} in the tarball is not up to date: run npm run generate`]
    return { problems, notes: [bundledPackages().join(', ')] }
  },
}

/** Returns the text of the file. */
export const notices = (): string => renderNotices(bundledPackages())

/** The modules of packages. `tsup.config.ts` runs those of `first-use:` at their first use. */
const MODULE = /(?:\/node_modules\/|^node_modules\/|^first-use:)((?:@[^/\s]+\/)?[^/\s]+)/

export function bundledPackages(): string[] {
  const modules = globSync('dist/**/metafile-*.json', { cwd: ROOT }).flatMap((file) => modulesIn(join(ROOT, file)))
  const names = modules.flatMap((path) => MODULE.exec(path)?.[1] ?? [])
  return [...new Set(names)].sort()
}

/** Returns the paths of the modules whose code is in a build. */
function modulesIn(metafile: string): string[] {
  const { outputs } = JSON.parse(readFileSync(metafile, 'utf8')) as {
    outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }>
  }
  return Object.values(outputs).flatMap(({ inputs }) =>
    Object.keys(inputs).filter((path) => (inputs[path]?.bytesInOutput ?? 0) > 0),
  )
}

/** Matches the first line of a licence's terms, after its title and copyright. */
const TERMS = /^Permission /m

interface Licence {
  readonly name: string
  /** Returns the package with its title and copyright. */
  readonly section: string
  readonly terms: string
}

/** Packages without a licence file, and the package of the same repository that has it. */
const LICENCE_OF_REPOSITORY: Readonly<Record<string, string>> = { 'proxy-agent-negotiate': 'https-proxy-agent' }

function licenceOf(name: string): Licence {
  const directory = join(ROOT, 'node_modules', name)
  const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as {
    version: string
    license: string
    homepage?: string
  }
  const licenceDirectory = join(ROOT, 'node_modules', LICENCE_OF_REPOSITORY[name] ?? name)
  const licence = readdirSync(licenceDirectory).find((file) => /^licen[cs]e(?:-mit)?(?:\.(?:md|txt))?$/i.test(file))
  if (licence === undefined) throw new Error(`${name} has no licence file`)
  const text = readFileSync(join(licenceDirectory, licence), 'utf8').trim()
  const start = text.search(TERMS)
  if (start === -1) throw new Error(`the licence of ${name} has no terms that begin with “Permission”`)
  const page = manifest.homepage === undefined ? '' : `<${manifest.homepage}>\n\n`
  return {
    name,
    section: `## ${name} ${manifest.version} (${manifest.license})\n\n${page}${fenced(text.slice(0, start))}`,
    terms: text.slice(start),
  }
}

/** Prints identical terms once, after all packages with these terms. */
function renderNotices(names: readonly string[]): string {
  const groups = new Map<string, Licence[]>()
  for (const licence of names.map(licenceOf)) {
    const words = licence.terms.replace(/\s+/g, ' ')
    groups.set(words, [...(groups.get(words) ?? []), licence])
  }
  const sections = [...groups.values()].flatMap((licences) => [
    ...licences.map(({ section }) => section),
    `The terms of ${licences.map(({ name }) => `\`${name}\``).join(', ')}:`,
    ...licences.slice(0, 1).map(({ terms }) => fenced(terms)),
  ])
  return [
    '# Third-party notices',
    'The files in `dist/` contain code of the packages below, each under its own licence. Packages with identical terms are ' +
      'grouped: each has its title and copyright, and the terms follow once.',
    ...sections,
  ]
    .join('\n\n')
    .concat('\n')
}

const fenced = (text: string): string => `\`\`\`text\n${text.trim()}\n\`\`\``

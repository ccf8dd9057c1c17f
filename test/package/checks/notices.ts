import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildCommand } from '../../../scripts/build-command.ts'
import { type PackedPackage, ROOT } from '../packed-package.ts'
import type { PackageCheck } from './finding.ts'
import { modulesOf } from './stacks.ts'

export const NOTICES = 'THIRD-PARTY-NOTICES.md'

/** The licences of what we bundle go with it: exactly the packages whose modules are in the build, or in the command. */
export const checkNotices: PackageCheck = {
  title: `${NOTICES} has the licence of every bundled package`,
  async run(packed) {
    const shipped = join(packed.directory, NOTICES)
    const isCurrent = existsSync(shipped) && readFileSync(shipped, 'utf8') === (await notices(packed))
    const problems = isCurrent ? [] : [`${NOTICES} in the tarball is not up to date: run npm run generate`]
    return { problems, notes: [(await bundledPackages(packed)).join(', ')] }
  },
}

/** What the file has to say. */
export const notices = async (packed: PackedPackage): Promise<string> => renderNotices(await bundledPackages(packed))

async function bundledPackages(packed: PackedPackage): Promise<string[]> {
  const names = new Set(await packagesOfCommand())
  for (const file of packed.files.filter((path) => /\.c?js$/.test(path))) {
    for (const source of modulesOf(packed, file)) {
      const name = packageOf(source)
      if (name !== undefined) names.add(name)
    }
  }
  return [...names].sort()
}

/** The command is minified, so it is built once more, for its list of inputs. */
async function packagesOfCommand(): Promise<string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'campaign-client-'))
  try {
    const files = await buildCommand(directory, 'installed')
    return files.flatMap((file) => packageOf(file) ?? [])
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

const packageOf = (file: string): string | undefined => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1]

/** Where a licence goes over from its title and copyright, which are each package's own, to what others say word for word. */
const TERMS = /^Permission /m

interface Licence {
  readonly name: string
  /** The package, and its title and copyright. */
  readonly section: string
  readonly terms: string
}

function licenceOf(name: string): Licence {
  const directory = join(ROOT, 'node_modules', name)
  const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as {
    version: string
    license: string
    homepage?: string
  }
  const licence = readdirSync(directory).find((file) => /^licen[cs]e(?:\.(?:md|txt))?$/i.test(file))
  if (licence === undefined) throw new Error(`${name} has no licence file to pass on`)
  const text = readFileSync(join(directory, licence), 'utf8').trim()
  const start = text.search(TERMS)
  if (start === -1) throw new Error(`the licence of ${name} has no terms that begin with “Permission”`)
  const page = manifest.homepage === undefined ? '' : `<${manifest.homepage}>\n\n`
  return {
    name,
    section: `## ${name} ${manifest.version} (${manifest.license})\n\n${page}${fenced(text.slice(0, start))}`,
    terms: text.slice(start),
  }
}

/** Terms of the same words stand once, below all packages that have them. */
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
    'The files in `dist/` contain code of the packages below, each under its own licence. Its title and copyright stand below its ' +
      'name; its terms stand once, below all packages that have the same.',
    ...sections,
  ]
    .join('\n\n')
    .concat('\n')
}

const fenced = (text: string): string => `\`\`\`text\n${text.trim()}\n\`\`\``

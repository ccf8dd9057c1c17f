import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { pathTo } from '../../scripts/repository.ts'

/** Each module of `src/`, and the modules and packages that it may import. No two modules import each other. */
const ALLOWED: Readonly<Record<string, string>> = {
  client: 'call transports settings options endpoints schemas shared',
  call: 'settings endpoints options errors transports schemas shared',
  settings: 'options endpoints errors shared',
  options: 'endpoints errors transports',
  transports: 'errors shared ky',
  endpoints: 'errors schemas shared zod',
  errors: 'schemas shared',
  bulk: 'client endpoints errors postgres schemas shared sqlite zod',
  'progress-changes': 'endpoints errors schemas shared',
  schemas: 'shared zod',
  sqlite: 'errors shared',
  webhook: 'errors postgres schemas shared sqlite @noble',
  postgres: 'errors shared',
  testing: 'zod endpoints options errors schemas webhook shared msw',
  console: 'client endpoints errors shared testing webhook zod preact @preact @tanstack',
  cli: 'console bulk call client endpoints errors options schemas shared testing transports webhook zod @noble commander csv-parse csv-stringify picocolors proxy-from-env https-proxy-agent',
  shared: 'jose',
}

const files = readdirSync(pathTo('src'), { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => /\.tsx?$/.test(file))

const moduleOf = (file: string): string => file.split('/')[0]?.replace(/\.ts$/, '') ?? file

interface Import {
  readonly file: string
  readonly target: string
}

const textOf = (file: string): string => readFileSync(pathTo(`src/${file}`), 'utf8')

/** The modules that a file loads. Type imports are erased. */
const runtimeImports = (file: string): string[] =>
  [
    ...textOf(file).matchAll(/^(?:import|export) (?!type )(?:[^'\n]|\n(?! *(?:import|export) ))*? from '([^']+)'/gm),
  ].map(([, name = '']) => name)

/** Everything that a file imports, types included. */
const importsOf = new Map(
  files.map((file) => {
    const { importedFiles } = ts.preProcessFile(textOf(file))
    return [file, importedFiles.map(({ fileName }) => fileName)]
  }),
)

const imports: Import[] = [...importsOf].flatMap(([file, names]) =>
  names.map((name) => ({
    file,
    target: name.startsWith('.') ? moduleOf(posix.join(posix.dirname(file), name)) : (name.split('/')[0] as string),
  })),
)

test('every module has a rule', () => {
  const modules = new Set(files.map(moduleOf))
  modules.delete('index')
  expect(Object.keys(ALLOWED).sort()).toEqual([...modules].sort())
})

test('every import is allowed by the rule of its module', () => {
  const isAlwaysAllowed = (target: string): boolean =>
    target.startsWith('node:') || target.startsWith('#') || target === '..'
  const wrong = imports.filter(({ file, target }) => {
    const module = moduleOf(file)
    if (module === 'index' || target === module || isAlwaysAllowed(target)) return false
    return !ALLOWED[module]?.split(' ').includes(target)
  })
  expect(imports.length).toBeGreaterThan(100)
  expect(wrong).toEqual([])
})

test('no import circle exists, types included', () => {
  const clear = new Set<string>()
  const findCircle = (file: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (clear.has(file)) return undefined
    for (const name of importsOf.get(file) ?? []) {
      const circle = name.startsWith('.') && findCircle(posix.join(posix.dirname(file), name), [...path, file])
      if (circle) return circle
    }
    clear.add(file)
    return undefined
  }
  expect(files.map((file) => findCircle(file, [])).filter((circle) => circle !== undefined)).toEqual([])
})

/** The files and packages that a file loads, directly or through other files. */
function reachedFrom(start: string): { readonly files: ReadonlySet<string>; readonly packages: readonly string[] } {
  const reached = new Set<string>()
  const packages = new Set<string>()
  const walk = (file: string): void => {
    if (reached.has(file)) return
    reached.add(file)
    for (const name of runtimeImports(file)) {
      if (name.startsWith('.')) walk(posix.join(posix.dirname(file), name))
      else packages.add(name)
    }
  }
  walk(start)
  return { files: reached, packages: [...packages] }
}

test('campaign-client/webhook loads no zod', () => {
  const { files, packages } = reachedFrom('webhook/index.ts')
  expect(files).toContain('schemas/read-user-activity.ts')
  expect(packages.filter((name) => name.startsWith('zod'))).toEqual([])
})

test('the page of the console loads neither zod nor the local service', () => {
  const { files, packages } = reachedFrom('console/page/main.tsx')
  expect(packages).toContain('preact')
  expect(packages.filter((name) => name.startsWith('zod'))).toEqual([])
  expect([...files].filter((file) => file.startsWith('testing/'))).toEqual([])
})

test.each(['run.ts', 'award/flags.ts', 'check/flags.ts', 'ledger-flags.ts', 'types.ts'])(
  'the help of the command loads neither the client nor zod: cli/%s',
  (file) => {
    const { files, packages } = reachedFrom(`cli/${file}`)
    expect(packages).toContain('commander')
    expect(files).not.toContain('client.ts')
    expect(packages.filter((name) => /^(?:zod|csv|node:(?:https?|crypto|sqlite))/.test(name))).toEqual([])
  },
)

test.each([
  ['ky', 'transports/fetch.ts'],
  ['jose', 'shared/jwt.ts'],
  ['msw', 'testing/msw.ts'],
  ['csv-stringify', 'cli/award/report.ts'],
])('only one file imports %s', (name, file) => {
  expect(new Set(imports.filter(({ target }) => target === name).map((found) => found.file))).toEqual(new Set([file]))
})

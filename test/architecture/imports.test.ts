import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, posix } from 'node:path'
import { expect, test } from 'vitest'
import { pathTo } from '../../scripts/repository.ts'

/** Each module of `src/`, and the modules and packages that it may import. No two modules import each other. */
const ALLOWED: Readonly<Record<string, string>> = {
  client: 'http settings options endpoints schemas shared',
  http: 'settings endpoints options errors transport schemas shared ky jose',
  settings: 'options endpoints errors shared',
  options: 'endpoints errors transport',
  transport: '',
  endpoints: 'schemas shared zod',
  node: 'http errors transport shared',
  errors: 'schemas shared',
  bulk: 'client endpoints errors schemas shared zod',
  progress: 'endpoints errors schemas',
  schemas: 'shared zod',
  webhook: 'shared @noble',
  testing: 'zod endpoints options errors schemas webhook shared msw',
  console: 'campaign-client shared zod preact @preact',
  cli: 'console campaign-client endpoints shared zod commander csv-parse picocolors proxy-from-env https-proxy-agent',
  shared: '',
}

const files = readdirSync(pathTo('src'), { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => /\.tsx?$/.test(file))

const moduleOf = (file: string): string => file.split('/')[0]?.replace(/\.ts$/, '') ?? file

interface Import {
  readonly file: string
  readonly target: string
}

const imports: Import[] = files.flatMap((file) => {
  const code = readFileSync(pathTo(`src/${file}`), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  const found = code.matchAll(/\b(?:from|import)\b\s*\(?\s*'([^']+)'/g)
  return [...found].map(([, name = '']) => ({
    file,
    target: name.startsWith('.') ? moduleOf(posix.join(posix.dirname(file), name)) : (name.split('/')[0] as string),
  }))
})

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

test.each([
  ['ky', 'http/fetch-transport.ts'],
  ['jose', 'http/token.ts'],
  ['msw', 'testing/msw.ts'],
  ['@noble', 'webhook/verify/hmac.portable.ts'],
])('only one file imports %s', (name, file) => {
  expect(new Set(imports.filter(({ target }) => target === name).map((found) => found.file))).toEqual(new Set([file]))
})

/** Folders with one file per operation. */
const PER_OPERATION = ['endpoints', 'testing/rules']

test('no folder contains more than 14 files', () => {
  const counts = new Map<string, number>()
  for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1)
  const tooLarge = [...counts].filter(([folder, count]) => count > 14 && !PER_OPERATION.includes(folder))
  expect(tooLarge).toEqual([])
})

test('no file is longer than 300 lines', () => {
  const exempt = ['client.ts', 'compiled-checks.ts']
  const tooLong = files
    .filter((file) => !exempt.includes(basename(file)))
    .filter((file) => readFileSync(pathTo(`src/${file}`), 'utf8').split('\n').length > 301)
  expect(tooLong).toEqual([])
})

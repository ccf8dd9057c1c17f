import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, posix } from 'node:path'
import { expect, test } from 'vitest'
import { rootPath } from './snippet.ts'

const design = readFileSync(rootPath('docs/design.md'), 'utf8')

/** The arrows of docs/design.md: each room, and what it may import. */
const arrows = new Map(
  [...design.matchAll(/^ {2}([\w-]+) +─▶ (.+)$/gm)].map(([, room = '', allowed = '']) => [
    room,
    new Set(allowed.split(/[;,] | and |, in one file each| in one file/).map((name) => name.trim())),
  ]),
)

const files = readdirSync(rootPath('src'), { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts'))
const roomOf = (file: string): string =>
  dirname(file) === '.' ? basename(file, '.ts') : (file.split('/')[0] as string)

interface Import {
  readonly file: string
  readonly target: string
}

const imports: Import[] = files.flatMap((file) => {
  const code = readFileSync(rootPath(`src/${file}`), 'utf8')
  const found = code.matchAll(/^(?:import|export|\})[^'\n]*from '([^']+)'/gm)
  return [...found].map(([, name = '']) => ({
    file,
    target: name.startsWith('.') ? roomOf(posix.join(posix.dirname(file), name)) : (name.split('/')[0] as string),
  }))
})

test('the design names every room', () => {
  const rooms = new Set(files.map(roomOf))
  rooms.delete('index')
  expect([...arrows.keys()].sort()).toEqual([...rooms].sort())
  for (const file of files.filter((name) => dirname(name) === '.')) expect(design).toContain(file)
})

test('no room imports what its arrow does not point to', () => {
  const isFree = (target: string): boolean => target.startsWith('node:') || target.startsWith('#')
  const wrong = imports.filter(({ file, target }) => {
    const room = roomOf(file)
    if (room === 'index' || target === room || isFree(target)) return false
    if (room === 'webhook' && target === '@noble') return file !== 'webhook/verify/hmac.portable.ts'
    return !arrows.get(room)?.has(target)
  })
  expect(imports.length).toBeGreaterThan(100)
  expect(wrong).toEqual([])
})

test.each([
  ['ky', 'http/fetch-transport.ts'],
  ['jose', 'http/token.ts'],
  ['msw', 'testing/msw.ts'],
])('only one file imports %s', (name, file) => {
  expect(imports.filter(({ target }) => target === name).map((found) => found.file)).toEqual([file])
})

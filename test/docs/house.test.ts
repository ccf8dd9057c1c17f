import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { endpoints } from '../../src/endpoints/index.ts'
import { rootPath } from './snippet.ts'

const design = readFileSync(rootPath('docs/design.md'), 'utf8')

/** A file of the map may stand for one file of each operation. */
const OPERATION = '<operation>.ts'
const operationFiles = Object.keys(endpoints).map(
  (name) => `${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.ts`,
)

/** The files of the map of `src/`: names stand at the start of a line, several with commas between, words after them. */
function filesOfMap(map: string): string[] {
  const folders: string[] = []
  return map.split('\n').flatMap((line) => {
    const [, indent = '', names] = /^( *)((?:[\w.<>-]+(?:\.tsx?|\/),? ?)+)(?: |$)/.exec(line) ?? []
    if (names === undefined) throw new Error(`the map of docs/design.md has a line without a file: ${line}`)
    const above = folders.slice(0, indent.length / 2).join('')
    return names.split(/[, ]+/).flatMap((name) => {
      if (name.endsWith('/')) folders.splice(indent.length / 2, folders.length, name)
      return /\.tsx?$/.test(name) ? (name === OPERATION ? operationFiles : [name]).map((file) => above + file) : []
    })
  })
}

/** The arrows of docs/design.md: each room, and what it may import. */
const arrows = new Map(
  [...design.matchAll(/^ {2}([\w-]+) +─▶ (.+)$/gm)].map(([, room = '', allowed = '']) => [
    room,
    new Set(allowed.split(/[;,] | and |, in one file each| in one file/).map((name) => name.trim())),
  ]),
)

const files = readdirSync(rootPath('src'), { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => /\.tsx?$/.test(file))
const roomOf = (file: string): string =>
  dirname(file) === '.' ? basename(file, '.ts') : (file.split('/')[0] as string)

interface Import {
  readonly file: string
  readonly target: string
}

const imports: Import[] = files.flatMap((file) => {
  const code = readFileSync(rootPath(`src/${file}`), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  const found = code.matchAll(/\b(?:from|import)\b\s*\(?\s*'([^']+)'/g)
  return [...found].map(([, name = '']) => ({
    file,
    target: name.startsWith('.') ? roomOf(posix.join(posix.dirname(file), name)) : (name.split('/')[0] as string),
  }))
})

describe('the map of docs/design.md', () => {
  const [, map = ''] = /^```text\nsrc\/\n([\s\S]+?)\n```$/m.exec(design) ?? []
  const named = filesOfMap(map.replace(/^ {2}/gm, ''))

  test('names every file of src, and no other', () => {
    expect(named.length).toBeGreaterThan(100)
    expect(named.filter((file) => !files.includes(file))).toEqual([])
    expect(files.filter((file) => !named.includes(file))).toEqual([])
  })

  test('names each once', () => {
    expect(named.filter((file, index) => named.indexOf(file) !== index)).toEqual([])
  })
})

test('every room has an arrow', () => {
  const rooms = new Set(files.map(roomOf))
  rooms.delete('index')
  expect([...arrows.keys()].sort()).toEqual([...rooms].sort())
})

test('no room imports what its arrow does not point to', () => {
  const isFree = (target: string): boolean => target.startsWith('node:') || target.startsWith('#') || target === '..'
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
  expect(new Set(imports.filter(({ target }) => target === name).map((found) => found.file))).toEqual(new Set([file]))
})

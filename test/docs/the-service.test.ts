import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { contract, type OperationContract } from '../contract/operations.ts'
import { rootPath } from './snippet.ts'

const page = readFileSync(rootPath('docs/the-service.md'), 'utf8')

/** The anchor that the site makes from a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-')

/** Each section by its anchor. */
const sections = new Map(
  page
    .split(/^(?=###? )/m)
    .slice(1)
    .map((section) => {
      const [heading = ''] = /(?<=^#+ ).+/.exec(section) ?? []
      return [anchorOf(heading), section]
    }),
)
const section = (heading: string): string => sections.get(anchorOf(heading)) ?? ''

/** The names in backticks, without marks and types. */
const namesIn = (text: string): Set<string> =>
  new Set([...text.matchAll(/`([^`]+)`/g)].flatMap(([, code = '']) => code.match(/\w+/g) ?? []))

function keysOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(keysOf)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => (key === 'meta' ? [key] : [key, ...keysOf(inner)]))
}

describe.each(Object.entries(contract as Record<string, OperationContract>))('%s on the page', (name, operation) => {
  const { method, path, fields, queryNames, errors, answer } = operation
  const text = section(path === 'not shown' ? 'Webhook registration' : `${method} ${path}`)

  test('has a section that leads to its method', () => {
    expect(text).toContain(`](methods/${name}.md)`)
  })

  test('has every field of the request, or says that the names are not shown', () => {
    if (queryNames === 'assumed') expect(text).toMatch(/\*\*Query:\*\*[^*]* not shown/)
    else for (const field of Object.keys(fields)) expect(namesIn(text)).toContain(field)
  })

  test('has every error, or says that they are not shown', () => {
    const line = /\*\*Errors:\*\* ([^*]+)\.$/m.exec(text)?.[1] ?? ''
    if (path === 'not shown') return expect(text).toContain('its answer are not shown')
    if (errors === 'not shown') return expect(line).toBe('not shown')
    expect(line.match(/\d{3}/g)?.map(Number)).toEqual(errors.statuses)
    for (const string of errors.strings ?? []) {
      expect(line).toContain('#string-errors')
      expect(namesIn(section('String errors'))).toContain(string)
    }
  })

  test('has every field of the answer', () => {
    const [, data = ''] = /\*\*Data:\*\* \[.+\]\(#(.+)\)/.exec(text) ?? []
    const names = namesIn(`${text}${sections.get(data) ?? ''}`)
    if (path !== 'not shown') for (const key of keysOf(answer.data)) expect(names).toContain(key)
  })
})

test('every word "Interface:" in a comment is followed by links to sections of the page', () => {
  const files = readdirSync(rootPath('src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.tsx?$/.test(file),
  )
  let links = 0
  for (const file of files) {
    const text = readFileSync(rootPath(`src/${file}`), 'utf8')
    expect(text, file).not.toMatch(/\bInterface: (?!\[)/)
    for (const [, target = '', anchor = ''] of text.matchAll(/\]\(([./]+docs\/the-service\.md)#([^)]+)\)/g)) {
      expect(posix.join('src', posix.dirname(file.replaceAll('\\', '/')), target), file).toBe('docs/the-service.md')
      expect([...sections.keys()], file).toContain(anchor)
      links++
    }
  }
  expect(links).toBeGreaterThan(50)
})

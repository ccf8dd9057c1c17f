import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { anchorOf } from '../../docs/.vitepress/anchor.ts'
import { pathTo } from '../../scripts/repository.ts'
import { contract, type OperationContract } from '../contract/operations.ts'

const page = readFileSync(pathTo('docs/the-service.md'), 'utf8')

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

/** Returns the names in backticks, without question marks and types. */
const namesIn = (text: string): Set<string> =>
  new Set([...text.matchAll(/`([^`]+)`/g)].flatMap(([, code = '']) => code.match(/\w+/g) ?? []))

/** Returns the list of errors, or `undefined` if the section has none. */
const errorsIn = (text: string): string | undefined => /\*\*Errors:\*\* ([^*]+)\.$/m.exec(text)?.[1]

function keysOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(keysOf)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => (key === 'meta' ? [key] : [key, ...keysOf(inner)]))
}

describe.each(Object.entries(contract as Record<string, OperationContract>))('the section of %s', (name, operation) => {
  const { method, path, fields, queryNames, errors, response } = operation
  const text = section(path === 'not shown' ? 'Webhook registration' : `${method} ${path}`)

  test('links to the page of the method', () => {
    expect(text).toContain(`](methods/${name}.md)`)
  })

  test('has every field of the request, or is marked as not shown', () => {
    if (queryNames === 'assumed') expect(text).toMatch(/\*\*Query:\*\*[^*]* not shown/)
    else for (const field of Object.keys(fields)) expect(namesIn(text)).toContain(field)
  })

  test('has every error, or is marked as not shown', () => {
    const line = errorsIn(text) ?? errorsIn(section('Endpoints')) ?? ''
    if (path === 'not shown') return expect(text).toContain('its response are not shown')
    if (errors === 'not shown') return expect(line).toBe('not shown')
    expect(line.match(/\d{3}/g)?.map(Number)).toEqual(errors.statuses)
    for (const string of errors.strings ?? []) {
      expect(line).toContain('#string-errors')
      expect(namesIn(section('String errors'))).toContain(string)
    }
  })

  test('has every field of the response', () => {
    const [, data = ''] = /\*\*Data:\*\* \[.+\]\(#(.+)\)/.exec(text) ?? []
    const names = namesIn(`${text}${sections.get(data) ?? ''}`)
    if (path !== 'not shown') for (const key of keysOf(response.data)) expect(names).toContain(key)
  })
})

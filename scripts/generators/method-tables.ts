import { type AnyEndpoint, endpoints, type OperationName } from '../../src/endpoints/index.ts'
import { type Member, Project, summaryOf } from '../comments.ts'
import { read } from '../repository.ts'
import type { Generator } from './generator.ts'

const KINDS = ['safe', 'guarded', 'unsafe']

interface Method {
  readonly name: OperationName
  readonly endpoint: AnyEndpoint
  readonly does: string
}

/** Writes the table of methods in docs/methods.md. */
export const methodTables: Generator = {
  name: 'method-tables',
  generate() {
    const rows = methodsInOrder().map(({ name, does, endpoint }) => [
      `[${name}](methods/${name}.md)`,
      does,
      endpoint.retry,
    ])
    return new Map([['docs/methods.md', withTable('docs/methods.md', ['method', 'does', 'a retry is'], rows)]])
  },
}

/** Sorts by HTTP method, then by retry rule. */
function methodsInOrder(): Method[] {
  const members = Project.current.members('CampaignClient')
  const rank = ({ endpoint }: Method): number =>
    (endpoint.method === 'GET' ? 0 : KINDS.length) + KINDS.indexOf(endpoint.retry)
  return (Object.keys(endpoints) as OperationName[])
    .map((name) => ({ name, endpoint: endpoints[name], does: lowerFirst(summaryOf(members.get(name) as Member)) }))
    .sort((a, b) => rank(a) - rank(b))
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

/** Replaces the table with the given head in a page. @throws Error when the page has no such table */
function withTable(file: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`
  const [title, ruler] = [line(head), `|${head.map(() => '---').join('|')}|\n`]
  const text = read(file)
  const start = text.indexOf(title + ruler)
  if (start < 0) throw new Error(`${file} has no table with the head ${title}`)
  const [old = ''] = /^(?:\|.*\n)+/.exec(text.slice(start)) ?? []
  return text.slice(0, start) + title + ruler + rows.map(line).join('') + text.slice(start + old.length)
}

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { pathTo } from '../../scripts/repository.ts'

const read = (path: string): string => readFileSync(pathTo(path), 'utf8')

/** All statuses of the receiver. */
const refusals = [...read('src/webhook/receiver/responses.ts').matchAll(/^ {2}\w+: (\d{3}),$/gm)].map(
  ([, status]) => status,
)
const statuses = new Set(['200', ...refusals])

/** Returns the statuses in the second column of the table with this head. */
function statusesOf(path: string, head: string): Set<string> {
  const text = read(path).replace(/^ \* ?/gm, '')
  const [table = ''] = text.slice(text.indexOf(head)).split(/\n(?!\|)/)
  const cells = table.split('\n').map((row) => row.split('|')[2] ?? '')
  return new Set(cells.flatMap((cell) => cell.match(/\b\d{3}\b/g) ?? []))
}

test.each([
  ['docs/webhook-receiver.md', '| what happened | response |'],
  ['src/webhook/receiver/create-webhook-receiver.ts', '| outcome | response |'],
])('the table of %s has exactly the statuses of the receiver', (path, head) => {
  expect(statuses.size).toBeGreaterThan(5)
  expect(statusesOf(path, head)).toEqual(statuses)
})

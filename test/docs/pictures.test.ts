import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { drawSequence } from '../../docs/build/sequence.ts'
import { rootPath } from './snippet.ts'

const texts = readdirSync(rootPath('docs/pictures')).filter((name) => name.endsWith('.txt'))

test.each(texts)('the picture shows what %s says (vitest -u draws it anew)', async (name) => {
  const drawn = drawSequence(readFileSync(rootPath(`docs/pictures/${name}`), 'utf8'))
  await expect(drawn).toMatchFileSnapshot(rootPath(`docs/pictures/${name.replace(/\.txt$/, '.svg')}`))
})

test('a text that cannot be drawn says which line', () => {
  expect(() => drawSequence('title: T\nlanes: A | B\nA -> C : hello')).toThrow('no such lane: A -> C : hello')
  expect(() => drawSequence('title: T\nlanes: A | B\nA waves')).toThrow('not understood: A waves')
})

import { expect, test } from 'vitest'
import { drawSequence } from '../../scripts/sequence-picture.ts'

test('a text that cannot be drawn says which line', () => {
  expect(() => drawSequence('title: T\nlanes: A | B\nA -> C : hello')).toThrow('no such lane: A -> C : hello')
  expect(() => drawSequence('title: T\nlanes: A | B\nA waves')).toThrow('not understood: A waves')
})

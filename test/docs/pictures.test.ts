import { expect, test } from 'vitest'
import { drawNarrowSequence, drawSequence } from '../../scripts/sequence-picture.ts'

test('a text that cannot be drawn says which line', () => {
  expect(() => drawSequence('title: T\nlanes: A | B\nA -> C : hello')).toThrow('no such lane: A -> C : hello')
  expect(() => drawSequence('title: T\nlanes: A | B\nA waves')).toThrow('not understood: A waves')
})

test('four lanes fit a phone, with what is said over as many lines as its arrow needs', () => {
  const picture = drawNarrowSequence(
    'title: T\nlanes: A | B | C | D\nA -> B : claimed, token a\nA -> D : claimed, token a',
  )
  expect(Number(/ width="(\d+)"/.exec(picture)?.[1])).toBeLessThanOrEqual(360)
  const said = [...picture.matchAll(/<text class="said"[^>]*>([^<]*)/g)].map(([, words]) => words)
  expect(said).toEqual(['claimed,', 'token a', 'claimed, token a'])
})

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Batches } from '../../src/shared/batches.ts'

interface Statement {
  ids: string[]
  answer(): void
}

/** Statements that wait until the test answers them: each id with itself. */
function waitingBatches(pace?: { atOnce: number; patienceMs: number }) {
  const statements: Statement[] = []
  const batches = new Batches<{ id: string }, string>((items) => {
    const ids = items.map(({ id }) => id)
    return new Promise((resolve) => statements.push({ ids, answer: () => resolve(ids) }))
  }, pace)
  return { statements, ask: (id: string) => batches.ask({ id }), idsOf: () => statements.map(({ ids }) => ids) }
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const settle = () => vi.advanceTimersByTimeAsync(0)

describe('a statement is short enough for the database', () => {
  test('with 500 items at most', async () => {
    const { statements, ask } = waitingBatches()
    const ids = Array.from({ length: 1001 }, (_, n) => `${n}`)
    const answers = Promise.all(ids.map(ask))
    for (let n = 0; n < 3; n++) {
      await settle()
      statements[n]?.answer()
    }
    expect(await answers).toEqual(ids)
    expect(statements.map((statement) => statement.ids.length)).toEqual([500, 500, 1])
  })

  test('with ids of 4 MiB at most, unless one alone is longer', async () => {
    const { statements, ask } = waitingBatches()
    const half = 1 << 21
    const ids = [...'abcde'].map((letter) => letter.repeat(half))
    const long = 'f'.repeat(2 * half + 1)
    const answers = Promise.all([...ids, long, 'short'].map(ask))
    for (let n = 0; n < 4; n++) {
      await settle()
      statements[n]?.answer()
    }
    expect((await answers).map((answer) => answer[0])).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 's'])
    expect(statements.map((statement) => statement.ids.map((id) => id[0]))).toEqual([
      ['a', 'b'],
      ['c', 'd'],
      ['e', 's'],
      ['f'],
    ])
  })
})

test('without a pace one statement follows the other, however long that takes', async () => {
  const { statements, ask, idsOf } = waitingBatches()
  const answers = [ask('a')]
  await settle()
  answers.push(ask('b'))
  await vi.advanceTimersByTimeAsync(3_600_000)
  answers.push(ask('c'))
  expect(idsOf()).toEqual([['a']])
  statements[0]?.answer()
  await settle()
  expect(idsOf()).toEqual([['a'], ['b', 'c']])
  statements[1]?.answer()
  expect(await Promise.all(answers)).toEqual(['a', 'b', 'c'])
})

test('a statement that was passed over does not count again when it is answered after all', async () => {
  const { statements, ask, idsOf } = waitingBatches({ atOnce: 1, patienceMs: 500 })
  const answers = [ask('hangs')]
  await vi.advanceTimersByTimeAsync(499)
  answers.push(ask('a'))
  await settle()
  expect(idsOf()).toEqual([['hangs']])
  await vi.advanceTimersByTimeAsync(1)
  expect(idsOf()).toEqual([['hangs'], ['a']])
  answers.push(ask('b'))
  statements[0]?.answer()
  await settle()
  answers.push(ask('c'))
  await settle()
  // One is under way, and one is all there may be.
  expect(idsOf()).toEqual([['hangs'], ['a']])
  statements[1]?.answer()
  await settle()
  expect(idsOf()).toEqual([['hangs'], ['a'], ['b', 'c']])
  statements[2]?.answer()
  expect(await Promise.all(answers)).toEqual(['hangs', 'a', 'b', 'c'])
})

import { expect, test } from 'vitest'
import { Outstanding } from '../../../src/webhook/receiver/outstanding.ts'

test('those who wait go on when the last is through, and not before', async () => {
  const work = new Outstanding()
  work.begin()
  work.begin()
  let isNone = false
  const none = work.none().then(() => {
    isNone = true
  })
  work.end()
  await new Promise((resolve) => setImmediate(resolve))
  expect([isNone, work.isNone]).toEqual([false, false])
  work.end()
  await none
  expect(work.isNone).toBe(true)
})

import { expect, test } from 'vitest'
import { Semaphore } from '../../src/shared/semaphore.ts'

const settle = () => new Promise((resolve) => setImmediate(resolve))

test('runs one task per permit at a time, and the other tasks in order', async () => {
  const semaphore = new Semaphore(2)
  const started: number[] = []
  const finish: (() => void)[] = []
  const tasks = [0, 1, 2, 3].map((task) =>
    semaphore.run(async () => {
      started.push(task)
      await new Promise<void>((resolve) => finish.push(resolve))
      return task
    }),
  )
  await settle()
  expect(started).toEqual([0, 1])
  finish[1]?.()
  await settle()
  expect(started).toEqual([0, 1, 2])
  finish[0]?.()
  finish[2]?.()
  await settle()
  finish[3]?.()
  expect(await Promise.all(tasks)).toEqual([0, 1, 2, 3])
})

test('a task that fails releases its permit', async () => {
  const semaphore = new Semaphore(1)
  await expect(semaphore.run(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  await expect(semaphore.run(async () => 'next')).resolves.toBe('next')
})

test('a released permit can be acquired again', async () => {
  const semaphore = new Semaphore(1)
  for (let round = 0; round < 3; round++) {
    await semaphore.acquire()
    semaphore.release()
  }
  let isAcquired = false
  await semaphore.acquire()
  const second = semaphore.acquire().then(() => (isAcquired = true))
  await settle()
  expect(isAcquired).toBe(false)
  semaphore.release()
  await second
})

test('with infinite permits no task waits', async () => {
  const semaphore = new Semaphore(Number.POSITIVE_INFINITY)
  await Promise.all(Array.from({ length: 1_000 }, () => semaphore.acquire()))
})

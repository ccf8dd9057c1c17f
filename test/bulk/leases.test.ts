import { expect, onTestFinished, test, vi } from 'vitest'
import { Leases } from '../../src/bulk/ledger/postgres-ledger.ts'

test('extends leases after each third of the lease time until the last claim ends, even after a failure', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const extend = vi.fn(async (_: readonly { readonly id: string }[]): Promise<void> => undefined)
  const extended = () => extend.mock.calls.map(([claims]) => claims.map(({ id }) => id).join())
  const leases = new Leases(300, extend)
  const [one, other] = [
    { id: 'one', token: 'a' },
    { id: 'other', token: 'b' },
  ] as const
  leases.add(one)
  await vi.advanceTimersByTimeAsync(99)
  expect(extended()).toEqual([])
  extend.mockRejectedValueOnce(new Error('the connection was reset'))
  await vi.advanceTimersByTimeAsync(1)
  leases.add(other)
  await vi.advanceTimersByTimeAsync(100)
  leases.remove(one.token)
  await vi.advanceTimersByTimeAsync(100)
  leases.remove(other.token)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(extended()).toEqual(['one', 'one,other', 'other'])
  leases.add(one)
  await vi.advanceTimersByTimeAsync(100)
  expect(extended()).toEqual(['one', 'one,other', 'other', 'one'])
})

import { expect, test } from 'vitest'
import { AttemptCancellation } from '../../src/transports/transport.ts'

const reason = new Error('too late')

test('a signal that is read after the cancellation is aborted with its reason', () => {
  const cancellation = new AttemptCancellation()
  cancellation.cancel(reason)
  expect(cancellation.signal).toMatchObject({ aborted: true, reason })
})

test('a signal that is read before the cancellation is aborted by it', () => {
  const cancellation = new AttemptCancellation()
  const { signal } = cancellation
  expect(signal.aborted).toBe(false)
  cancellation.cancel(reason)
  expect(cancellation.signal).toBe(signal)
  expect(signal).toMatchObject({ aborted: true, reason })
})

test('a cancellation calls each listener with its reason, unless it was removed', () => {
  const { onCancel, cancel } = detached(new AttemptCancellation())
  const calls: unknown[] = []
  onCancel((given) => calls.push('first', given))
  onCancel((given) => calls.push('second', given))
  onCancel(() => calls.push('removed'))()
  cancel(reason)
  expect(calls).toEqual(['first', reason, 'second', reason])
})

test('a listener that comes after the cancellation is called at once', () => {
  const { onCancel, cancel } = detached(new AttemptCancellation())
  cancel(reason)
  const calls: unknown[] = []
  onCancel((given) => calls.push(given))()
  expect(calls).toEqual([reason])
})

/** Takes `onCancel` off its object, as a transport may do. */
function detached(cancellation: AttemptCancellation) {
  const { onCancel } = cancellation
  return { onCancel, cancel: (why: Error) => cancellation.cancel(why) }
}

import {
  createCampaignService,
  createManualClock,
  type EntrySnapshot,
  type ServiceEvent,
  type StateSnapshot,
} from 'campaign-client/testing'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { campaigns, run, steps } from './random-use.ts'
import { caller, ok } from './rest.ts'

const HOOK = 'https://partner.example/hook'
const SECRET = 'the secret of the hook'
const ada = { account: 'ada', platform: 'discord', pid: 'demo' }
const reward = { address: `0x${'1'.repeat(40)}`, pid: 'demo', id: 'r', xp: 1 }

const startWithListener = (status = 200) => {
  const clock = createManualClock({ startMs: 1000 })
  const service = createCampaignService({ clock, idSeed: 7, deliver: () => new Response(null, { status }) })
  const events: ServiceEvent[] = []
  const stop = service.subscribe((event) => events.push(event))
  return { clock, service, events, stop, kinds: () => events.map(({ kind }) => kind), ...caller(service.fetch) }
}

describe('subscribe', () => {
  test('reports the state changes of a request, then the request with its response', async () => {
    const { post, events, service } = startWithListener()
    await post('/wallet/reward', reward)
    expect(events).toEqual([
      {
        kind: 'state_changed',
        at: 1000,
        changed: { entries: [service.state.entries.at(-1)], awards: service.state.awards, values: [] },
      },
      {
        kind: 'request_answered',
        at: 1000,
        request: service.requests[0],
        response: {
          status: 200,
          headers: { 'content-type': 'application/json; charset=utf-8', 'x-campaign-client': 'local' },
          body: '{"success":true}',
        },
      },
    ])
  })

  test('reports the reason of a refused request, and no state change', async () => {
    const { get, post, events } = startWithListener()
    await post('/wallet/reward', { ...reward, id: 'reward-ada-1' })
    await get('/campaign/info', { pid: 'demo' })
    expect(events).toMatchObject([
      {
        kind: 'request_answered',
        request: { id: 1, status: 400, reason: 'the reward id "reward-ada-1" has been used before' },
        response: { status: 400 },
      },
      { kind: 'request_answered', request: { id: 2, operation: 'getCampaignInfo', status: 200 } },
    ])
    expect(events).toHaveLength(2)
  })

  test('reports when a fault is ordered, used and cancelled, and has no response if the client gets none', async () => {
    const { service, post, events } = startWithListener()
    const fault = service.fail({ on: 'rewardWallet', kind: 'reset', times: 2 })
    await post('/wallet/reward', reward).catch(() => {})
    fault.cancel()
    fault.cancel()
    const options = { on: 'rewardWallet', kind: 'reset', times: 2 }
    expect(events).toMatchObject([
      { kind: 'fault_changed', change: 'ordered', fault: { id: fault.id, options, used: 0, remaining: 2 } },
      { kind: 'fault_changed', change: 'used', fault: { used: 1, remaining: 1 } },
      { kind: 'request_answered', request: { fault: 'reset', handled: false } },
      { kind: 'fault_changed', change: 'cancelled', fault: { used: 1, remaining: 0 } },
    ])
    expect(events[2]).not.toHaveProperty('response')
    expect(events).toHaveLength(4)
  })

  test('reports each state of a delivery', async () => {
    const { service, clock, events } = startWithListener(503)
    service.registerWebhook({ url: HOOK, hook_id: 'h', secret: SECRET })
    service.emit({ kind: 'custom', payload: {} })
    await clock.advance(5_000)
    const deliveries = events.flatMap((event) => (event.kind === 'delivery_changed' ? [event] : []))
    expect(deliveries.map(({ at, delivery }) => [at, delivery.attempts.length, delivery.nextAttemptAt])).toEqual([
      [1000, 0, undefined],
      [1000, 1, 6000],
      [6000, 2, 36_000],
    ])
    expect(deliveries.at(-1)?.delivery).toEqual(service.deliveries[0])
    expect(JSON.stringify(events)).not.toContain(SECRET)
  })

  test('reports when a webhook is registered, replaced or unregistered, by the API or the service', async () => {
    const { service, post, events } = startWithListener()
    await post('/webhook', { scope: 'user_activity', url: HOOK, hook_id: 'h', secret: SECRET })
    service.registerWebhook({ url: `${HOOK}/2`, hook_id: 'h' })
    service.unregisterWebhook('h')
    service.unregisterWebhook('h')
    expect(events.filter(({ kind }) => kind === 'webhook_changed')).toMatchObject([
      { change: 'registered', webhook: { hook_id: 'h', urls: [HOOK], signed: true } },
      { change: 'replaced', webhook: { urls: [`${HOOK}/2`], signed: false } },
      { change: 'unregistered', webhook: { urls: [`${HOOK}/2`] } },
    ])
    expect(JSON.stringify(events)).not.toContain(SECRET)
  })

  test('reports each move of the clock', async () => {
    const { clock, events } = startWithListener()
    clock.setTimeout(() => {}, 10)
    await clock.advance(30)
    await clock.advance(0)
    expect(events).toEqual([
      { kind: 'clock_moved', at: 1010 },
      { kind: 'clock_moved', at: 1030 },
    ])
  })

  test('reports a reset as one event', () => {
    const { service, events } = startWithListener()
    service.registerWebhook({ url: HOOK })
    service.fail({ kind: 'reset' })
    events.length = 0
    service.reset({ webhooks: [{ url: HOOK }] })
    expect(events).toEqual([{ kind: 'reset', at: 1000 }])
  })

  test('reports every change of the state, for random calls', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (calls) => {
        const service = createCampaignService({ campaigns, idSeed: 's', deliver: () => new Response() })
        const replayed = replay(service.state)
        service.subscribe((event) => {
          if (event.kind === 'state_changed') replayed.add(event.changed)
        })
        await run(service, calls)
        expect(replayed.state()).toEqual({ ...service.state, entries: byId(service.state.entries) })
      }),
      { numRuns: 60 },
    )
  })
})

const byId = (entries: readonly EntrySnapshot[]) => new Map(entries.map((entry) => [entry.id, entry]))

/** Copies a state. Only events update the copy. */
function replay({ entries, awards, values }: StateSnapshot) {
  const known = byId(entries)
  return {
    add(changed: StateSnapshot) {
      for (const entry of changed.entries) known.set(entry.id, entry)
      awards.push(...changed.awards)
      values.push(...changed.values)
    },
    state: () => ({ entries: known, awards, values }),
  }
}

describe('a subscription', () => {
  test('can be ended twice without ending another subscription of the same listener', async () => {
    const { service, get } = startWithListener()
    let calls = 0
    const listener = () => void calls++
    const stopFirst = service.subscribe(listener)
    service.subscribe(listener)
    await get('/campaign/info', { pid: 'demo' })
    stopFirst()
    stopFirst()
    await get('/campaign/info', { pid: 'demo' })
    expect(calls).toBe(2 + 1)
  })

  test('listens to the clock only while the service has listeners', async () => {
    const clock = createManualClock()
    let clockListeners = 0
    const countingClock = {
      ...clock,
      onMove(listener: () => void) {
        clockListeners++
        const stop = clock.onMove?.(listener)
        return () => {
          clockListeners--
          stop?.()
        }
      },
    }
    const service = createCampaignService({ clock: countingClock })
    expect(clockListeners).toBe(0)
    const stops = [service.subscribe(() => {}), service.subscribe(() => {})]
    expect(clockListeners).toBe(1)
    for (const stop of stops) stop()
    expect(clockListeners).toBe(0)
  })

  test('delivers events in order when a listener causes events or ends another subscription', () => {
    const { service, kinds } = startWithListener()
    const late: string[] = []
    const stop = service.subscribe((event) => {
      if (event.kind === 'fault_changed' && event.change === 'ordered') service.registerWebhook({ url: HOOK })
      if (event.kind === 'webhook_changed') stopLast()
    })
    const stopLast = service.subscribe(({ kind }) => late.push(kind))
    service.fail({ kind: 'reset' })
    expect(kinds()).toEqual(['fault_changed', 'webhook_changed'])
    expect(late).toEqual(['fault_changed'])
    stop()
  })

  test('rethrows an error of the listener without affecting the call', async () => {
    const uncaught: unknown[] = []
    const listeners = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    process.on('uncaughtException', (error) => uncaught.push(error))
    try {
      const { service, get, events } = startWithListener()
      service.subscribe(() => {
        throw new Error('synchronous')
      })
      service.subscribe(async () => {
        throw new Error('asynchronous')
      })
      expect(await get('/code', { code: 'UNUSED-2026', pid: 'demo' })).toMatchObject(ok({ used_by: [] }))
      await new Promise((resolve) => setTimeout(resolve, 1))
      expect(events).toHaveLength(1)
      expect(uncaught).toMatchObject([{ message: 'synchronous' }, { message: 'asynchronous' }])
    } finally {
      process.removeAllListeners('uncaughtException')
      for (const listener of listeners) process.on('uncaughtException', listener)
    }
  })

  test('refuses a listener that is not a function', () => {
    expect(() => createCampaignService().subscribe('me' as never)).toThrow(
      'subscribe: listener must be a function, got string',
    )
  })

  test('does not deliver earlier events', async () => {
    const { service, post, events, stop } = startWithListener()
    stop()
    await post('/wallet/reward', reward)
    service.subscribe((event) => events.push(event))
    await post('/user', { ...ada, team: 'red' })
    expect(events).toMatchObject([
      { kind: 'state_changed', changed: { entries: [{ account: 'ada' }], awards: [] } },
      { kind: 'request_answered' },
    ])
  })
})

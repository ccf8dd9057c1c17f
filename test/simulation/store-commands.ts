import type { DeliveryStore } from 'campaign-client/webhook'
import fc from 'fast-check'
import { expect } from 'vitest'

const KEYS = ['["e","1"]', '["e","2"]']
const LEASE_MS = 60_000
const FOREIGN_TOKEN = '00000000-0000-4000-8000-000000000000'

/** The contract of a delivery store as a model: what each key has. */
interface Model {
  now: number
  readonly entries: Map<string, { readonly state: 'claimed' | 'done'; readonly token: string; readonly until: number }>
  /** The tokens of all claims so far. */
  readonly tokens: string[]
}

interface Real {
  readonly store: DeliveryStore
  /** Moves the store's clock forward. */
  readonly advance: ((ms: number) => void) | undefined
}

type Command = fc.AsyncCommand<Model, Real, boolean>

const heldAt = (model: Model, key: string) => {
  const entry = model.entries.get(key)
  return entry !== undefined && entry.until > model.now ? entry : undefined
}

/** Claims a key, once or by several calls at once: at most one of them gets it. */
const claim = (key: string, calls: number): Command => ({
  check: () => true,
  toString: () => `claim ${key} by ${calls} calls`,
  async run(model, { store }) {
    const held = heldAt(model, key)
    const results = await Promise.all(Array.from({ length: calls }, () => store.claim(key, LEASE_MS)))
    const claimed = results.filter((result) => result.state === 'claimed')
    expect(claimed).toHaveLength(held === undefined ? 1 : 0)
    for (const { state } of results)
      if (state !== 'claimed') expect(state).toBe(held?.state === 'done' ? 'done' : 'busy')
    for (const { token } of claimed) {
      expect(model.tokens).not.toContain(token)
      model.tokens.push(token)
      model.entries.set(key, { state: 'claimed', token, until: model.now + LEASE_MS })
    }
  },
})

/** A command with a token: one of a claim so far, or a foreign one. */
const withToken =
  (name: string, run: (model: Model, store: DeliveryStore, key: string, token: string) => Promise<void>) =>
  (key: string, index: number): Command => ({
    check: () => true,
    toString: () => `${name} ${key} with token ${index}`,
    run: (model, { store }) => run(model, store, key, model.tokens.at(index) ?? FOREIGN_TOKEN),
  })

const extend = withToken('extend', async (model, store, key, token) => {
  const held = heldAt(model, key)
  const isOurs = held?.state === 'claimed' && held.token === token
  expect(await store.extend(key, token, LEASE_MS)).toBe(isOurs)
  if (isOurs) model.entries.set(key, { ...held, until: model.now + LEASE_MS })
})

const complete = withToken('complete', async (model, store, key, token) => {
  const held = heldAt(model, key)
  const isFree = held === undefined || held.token === token
  expect(await store.complete(key, token, 10 * LEASE_MS)).toBe(isFree)
  if (isFree) model.entries.set(key, { state: 'done', token, until: model.now + 10 * LEASE_MS })
})

const release = withToken('release', async (model, store, key, token) => {
  await store.release(key, token)
  const entry = model.entries.get(key)
  if (entry?.state === 'claimed' && entry.token === token) model.entries.delete(key)
})

const wait = (ms: number): Command => ({
  check: () => true,
  toString: () => `wait ${ms} ms`,
  async run(model, { advance }) {
    if (advance === undefined) return
    advance(ms)
    model.now += ms
  },
})

/** Compares a store with the model, for random commands. @param open - returns an empty store */
export async function expectStoreFollowsModel(open: () => Promise<Real>, numRuns: number): Promise<void> {
  const key = fc.constantFrom(...KEYS)
  const token = fc.integer({ min: -3, max: 0 })
  const commands = fc.commands<Model, Real, boolean>(
    [
      fc.tuple(key, fc.integer({ min: 1, max: 3 })).map(([k, calls]) => claim(k, calls)),
      fc.tuple(key, token).map(([k, t]) => extend(k, t)),
      fc.tuple(key, token).map(([k, t]) => complete(k, t)),
      fc.tuple(key, token).map(([k, t]) => release(k, t)),
      fc.constantFrom(1, LEASE_MS, 10 * LEASE_MS).map(wait),
    ],
    { size: '+1' },
  )
  const property = fc.asyncProperty(commands, async (drawn) => {
    const real = await open()
    await fc.asyncModelRun(() => ({ model: { now: 0, entries: new Map(), tokens: [] }, real }), drawn)
  })
  await fc.assert(property, { numRuns })
}

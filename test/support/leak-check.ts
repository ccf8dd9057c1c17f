/**
 * Runs for each test file. Unit tests share processes, so a file fails if it does not restore fake timers, globals, environment
 * variables, the working directory and listeners. Cancels the timers of the file: otherwise a retry of a local service would
 * set a timer in a later file's fake clock.
 */
import { afterAll, expect, vi } from 'vitest'
import { socketsRead } from './connections-closed.ts'

/** Loaded before any test replaces `fetch`. A different instance later means that a file loaded it again. */
const SOURCE = '../../src/index.ts'
const source: unknown = await import(SOURCE)

// The package warns once per process, and records that on the global object. Each file gets its own warnings.
for (const key of Object.getOwnPropertySymbols(globalThis)) {
  if (key.description?.startsWith('campaign-client.')) Reflect.deleteProperty(globalThis, key)
}

const timers = new Set<NodeJS.Timeout>()
const { setTimeout, setInterval } = globalThis
globalThis.setTimeout = recording(setTimeout)
globalThis.setInterval = recording(setInterval)

const globals = Object.getOwnPropertyDescriptors(globalThis) as Record<string, PropertyDescriptor>
const env = { ...process.env }
const cwd = process.cwd()
const listeners = countListeners()
const { now } = performance

afterAll(async () => {
  // Vitest does this later, but a spy could then restore a fake clock that no longer exists.
  vi.restoreAllMocks()
  const found = {
    fakeTimers: vi.isFakeTimers(),
    globals: replacedGlobals(),
    isSystemTime: performance.now === now,
    env: { ...process.env },
    cwd: process.cwd(),
    listeners: countListeners(),
  }
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
  // Attempts whose server has closed end and schedule retries.
  await socketsRead()
  for (const timer of timers) clearTimeout(timer)
  Object.assign(globalThis, { setTimeout, setInterval })
  // Modules that were loaded while `fetch` was replaced may keep the replacement.
  if ((await import(SOURCE)) !== source) vi.resetModules()
  expect(found, 'state that the test file did not restore').toEqual({
    fakeTimers: false,
    globals: [],
    isSystemTime: true,
    env,
    cwd,
    listeners,
  })
})

function recording<Start extends (...args: never[]) => NodeJS.Timeout>(start: Start): Start {
  const record = (...args: Parameters<Start>): NodeJS.Timeout => {
    const timer = start(...args)
    // The built-in `fetch` has one timer for the whole process.
    if ((args[0] as { name?: string } | undefined)?.name !== 'onTick') timers.add(timer)
    return timer
  }
  return Object.assign(record, start) as unknown as Start
}

/**
 * Skips globals with a getter, which Node replaces on first use, and names with two underscores, which compilers set.
 */
function replacedGlobals(): string[] {
  return Object.entries(globals)
    .filter(([name, { get }]) => get === undefined && !name.startsWith('__'))
    .filter(([name, { value }]) => !Object.is(Object.getOwnPropertyDescriptor(globalThis, name)?.value, value))
    .map(([name]) => name)
}

function countListeners(): Readonly<Record<string, number>> {
  const events = ['uncaughtException', 'unhandledRejection', 'SIGINT', 'SIGTERM']
  return Object.fromEntries(events.map((event) => [event, process.listenerCount(event)]))
}

/**
 * Set up before each file of tests. Many files run in one process, one after the other, and share its modules: a file that
 * leaves a clock that stands still, or a global of its own, would fail another one. So it fails itself.
 */
import { afterAll, expect, vi } from 'vitest'

/** Loaded before any test can put another `fetch` in its place. Whether it is still the same tells whether a file loaded it anew. */
const SOURCE = '../../src/index.ts'
const source: unknown = await import(SOURCE)

const globals = Object.getOwnPropertyDescriptors(globalThis) as Record<string, PropertyDescriptor>
const env = { ...process.env }
const listeners = countListeners()

afterAll(async () => {
  // As Vitest does after each file: what a spy puts back may be a clock that has been taken away since.
  vi.restoreAllMocks()
  const found = {
    fakeTimers: vi.isFakeTimers(),
    globals: replacedGlobals(),
    env: { ...process.env },
    listeners: countListeners(),
  }
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
  // What was loaded under other globals (a `fetch` that is intercepted) may have kept them.
  if ((await import(SOURCE)) !== source) vi.resetModules()
  expect(found, 'what the file leaves behind').toEqual({ fakeTimers: false, globals: [], env, listeners })
})

/**
 * Node gives some of them a getter, which puts the value in its place when it is asked. What compilers need has two
 * underscores, and each copy of its library puts it there anew.
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

import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import {
  type ActionName,
  type ActionRequest,
  type ActionResponse,
  type ActionResult,
  PATHS,
  Problem,
} from '../protocol.ts'
import { refresh } from './live.ts'

/** Asks the server to perform an action. @throws Problem with a message for the page */
export async function perform<Name extends ActionName>(
  name: Name,
  request: ActionRequest<Name>,
): Promise<ActionResult<Name>> {
  const response = await fetch(PATHS.actions + name, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  }).catch(() => {
    throw new Problem('The service does not respond. Is campaign-client dev still running?')
  })
  const result = (await response.json()) as ActionResponse<Name>
  if ('error' in result) throw new Problem(result.error, result.field)
  return result.data
}

/** A message at the foot of the page. */
interface Notice {
  readonly text: string
  readonly isError?: boolean
  /** A link to the result, or a button that undoes the action. */
  readonly next?: ComponentChildren
}

export const notice = signal<Notice | undefined>(undefined)
let hiding: ReturnType<typeof setTimeout> | undefined

export function notify(text: string, more: Omit<Notice, 'text'> = {}): void {
  notice.value = { text, ...more }
  clearTimeout(hiding)
  hiding = setTimeout(dismiss, more.isError || more.next ? 10_000 : 5000)
}

export function dismiss(): void {
  notice.value = undefined
}

/** Performs the action of a button, updates the page, and shows a notice of the result. */
export async function run<Result>(
  work: () => Promise<Result>,
  done: string | ((result: Result) => Notice),
): Promise<void> {
  try {
    const result = await work()
    await refresh()
    const { text, ...more } = typeof done === 'string' ? { text: done } : done(result)
    notify(text, more)
  } catch (error) {
    notify(messageOf(error), { isError: true })
  }
  requestAnimationFrame(keepFocus)
}

/** Focuses the open item, or else the list, if the button of an action is gone: the keyboard continues there. */
export function keepFocus(): void {
  if (document.activeElement !== document.body) return
  const place = document.querySelector<HTMLElement>('.pane') ?? document.getElementById('main')
  place?.focus({ preventScroll: true })
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

interface Loaded<Value> {
  readonly value?: Value
  readonly error?: string
}

/** Returns the response to an action. Asks again when the request or the revision changes. Without a request, asks nothing. */
export function useAction<Name extends ActionName>(
  name: Name,
  request: ActionRequest<Name> | undefined,
  revision: unknown,
): Loaded<ActionResult<Name>> {
  const [loaded, setLoaded] = useState<Loaded<ActionResult<Name>>>({})
  useEffect(() => {
    let isCurrent = true
    if (request === undefined) return
    perform(name, request).then(
      (value) => isCurrent && setLoaded({ value }),
      (error: unknown) => isCurrent && setLoaded({ error: messageOf(error) }),
    )
    return () => {
      isCurrent = false
    }
  }, [name, JSON.stringify(request), request && revision])
  return loaded
}

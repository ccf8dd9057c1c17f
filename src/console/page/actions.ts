import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { Problem } from '../problem.ts'
import { type ActionAnswer, type ActionName, type AnswerOfAction, PATHS, type RequestOfAction } from '../protocol.ts'
import { refresh } from './live.ts'

/** Asks the server for an action. @throws Problem with a sentence for the user */
export async function perform<Name extends ActionName>(
  name: Name,
  request: RequestOfAction<Name>,
): Promise<AnswerOfAction<Name>> {
  const response = await fetch(PATHS.actions + name, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  }).catch(() => {
    throw new Problem('The service does not answer. Is campaign-client dev still running?')
  })
  const answer = (await response.json()) as ActionAnswer<Name>
  if ('error' in answer) throw new Problem(answer.error, answer.field)
  return answer.data
}

/** A message to the user, in the line at the foot of the page. */
interface Notice {
  readonly text: string
  readonly isError: boolean
}

export const notice = signal<Notice | undefined>(undefined)
let hiding: ReturnType<typeof setTimeout> | undefined

export function tell(text: string, isError = false): void {
  notice.value = { text, isError }
  clearTimeout(hiding)
  hiding = setTimeout(dismiss, isError ? 10_000 : 5000)
}

export function dismiss(): void {
  notice.value = undefined
}

/** Performs an action of a button, and tells its result. @returns whether it succeeded */
export async function attempt(work: () => Promise<unknown>, done: string): Promise<boolean> {
  try {
    await work()
    await refresh()
    tell(done)
    return true
  } catch (error) {
    tell(messageOf(error), true)
    return false
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

interface Loaded<Value> {
  readonly value?: Value
  readonly error?: string
}

/** The answer of an action, asked for again when the request or the revision changes. */
export function useAnswer<Name extends ActionName>(
  name: Name,
  request: RequestOfAction<Name>,
  revision: unknown = 0,
): Loaded<AnswerOfAction<Name>> {
  const [loaded, setLoaded] = useState<Loaded<AnswerOfAction<Name>>>({})
  const asked = JSON.stringify(request)
  useEffect(() => {
    let isWanted = true
    perform(name, request).then(
      (value) => isWanted && setLoaded({ value }),
      (error: unknown) => isWanted && setLoaded({ error: messageOf(error) }),
    )
    return () => {
      isWanted = false
    }
  }, [name, asked, revision])
  return loaded
}

import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { type ActionName, type AnswerOfAction, PATHS, type RequestOfAction } from '../protocol.ts'

/** Asks the server to do something. @throws Error with a sentence for the reader */
export async function perform<Name extends ActionName>(
  name: Name,
  request: RequestOfAction<Name>,
): Promise<AnswerOfAction<Name>> {
  const response = await fetch(PATHS.actions + name, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  }).catch(() => {
    throw new Error('The service does not answer. Is `campaign-client dev` still running?')
  })
  const answer = (await response.json()) as { data: AnswerOfAction<Name> } | { error: string }
  if ('error' in answer) throw new Error(answer.error)
  return answer.data
}

/** What the reader is told at the edge of the page. */
export interface Notice {
  readonly text: string
  readonly isError: boolean
}

export const notice = signal<Notice | undefined>(undefined)
let hiding: ReturnType<typeof setTimeout> | undefined

export function tell(text: string, isError = false): void {
  notice.value = { text, isError }
  clearTimeout(hiding)
  hiding = setTimeout(
    () => {
      notice.value = undefined
    },
    isError ? 10_000 : 4000,
  )
}

/** Does something, and tells how it went. Whether it went well. */
export async function attempt(work: () => Promise<unknown>, done: string): Promise<boolean> {
  try {
    await work()
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

/** The answer of an action, asked for anew when the request or the revision changes. */
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

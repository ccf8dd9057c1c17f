import type { IncomingMessage, ServerResponse } from 'node:http'
import { answer, readBody } from '../http-server.ts'
import { type Examined, examine } from './examine.ts'
import { type Forwarded, forward } from './forward.ts'

/** A message that came, and what was done with it. */
export interface Received {
  readonly at: string
  readonly path: string
  readonly body: string
  /** Absent without a secret to tell by. */
  readonly examined?: Examined
  readonly forwarded?: Forwarded
  /** The status that was answered. */
  readonly answered: number
}

export interface ReceiveOptions {
  readonly secret: string | undefined
  readonly forwardTo: string | undefined
  /** The status to answer; by default what the message deserves. */
  readonly status: number | undefined
}

const MAX_BODY_BYTES = 1_048_576

/** Receives one message, answers it, and says what it was. `undefined` for what is no message. */
export async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  { secret, forwardTo, status }: ReceiveOptions,
): Promise<Received | undefined> {
  const at = new Date().toISOString()
  if (request.method !== 'POST') {
    answer(response, 405, 'a webhook message is a POST', { allow: 'POST' })
    return undefined
  }
  const body = await readBody(request, MAX_BODY_BYTES)
  if (body === undefined) {
    answer(response, 413, `a message may have ${MAX_BODY_BYTES} bytes`)
    return undefined
  }
  const signature = request.headersDistinct['x-service-signature']
  const examined = secret === undefined ? undefined : await examine(secret, body, signature)
  const forwarded = forwardTo === undefined ? undefined : await forward(forwardTo, request, body)
  const answered = forwarded ? (forwarded.status ?? 502) : (status ?? (examined?.valid === false ? 401 : 200))
  answer(
    response,
    answered,
    forwarded?.text ?? '',
    forwarded?.contentType ? { 'content-type': forwarded.contentType } : {},
  )
  return {
    at,
    path: request.url ?? '/',
    body: new TextDecoder().decode(body),
    ...(examined && { examined }),
    ...(forwarded && { forwarded }),
    answered,
  }
}

import type { IncomingMessage, ServerResponse } from 'node:http'
import { CONTROL_REQUESTS } from '../action-requests.ts'
import { Problem } from '../problem.ts'
import { type ActionContext, performAction, plainMessage } from './actions.ts'
import { sendText } from './assets.ts'
import { readJson } from './read-json.ts'

/** The first segment of the paths that programs use to control the service. */
export const CONTROL = '/control/'

const RECORDS = {
  state: ({ service }: ActionContext) => service.exportSeed(),
  // JSON has no Infinity: a count of all requests becomes null, as `addFault` takes it.
  faults: ({ service }: ActionContext) => ({ faults: service.pendingFaults() }),
  requests: ({ service }: ActionContext, after: string | null) => {
    // Compares numbers: the request `after` may have been discarded.
    if (after !== null && !/^\d+$/.test(after)) throw new Problem('The number of a request is a whole number.', 'after')
    return service.requests.filter(({ id }) => after === null || id > Number(after))
  },
  deliveries: ({ service }: ActionContext, after: string | null) => {
    const { deliveries } = service
    const index = deliveries.findIndex(({ deliveryId }) => deliveryId === after)
    if (after !== null && index < 0) throw new Problem(`There is no delivery "${after}".`, 'after')
    return deliveries.slice(index + 1)
  },
}

const KNOWN =
  `The actions are: ${Object.keys(CONTROL_REQUESTS).join(', ')}. ` +
  `The records are: ${Object.keys(RECORDS).join(', ')}.`

/**
 * Responds to a request of a program under `/control/`: `POST` with the name of an action, or `GET` with the name of a record.
 * Actions take the same JSON as the page's actions.
 */
export async function control(
  request: IncomingMessage,
  response: ServerResponse,
  name: string,
  query: string,
  context: ActionContext,
): Promise<void> {
  const isRecord = Object.hasOwn(RECORDS, name)
  if (!isRecord && !Object.hasOwn(CONTROL_REQUESTS, name)) {
    return sendJson(response, 404, { error: `There is no action "${name}". ${KNOWN}` })
  }
  const allow = isRecord ? 'GET' : 'POST'
  if (request.method !== allow) return sendJson(response, 405, { error: `Use ${allow}.` }, { allow })
  try {
    if (isRecord) {
      const after = new URLSearchParams(query).get('after')
      return sendJson(response, 200, RECORDS[name as keyof typeof RECORDS](context, after))
    }
    const read = await readJson(request)
    if ('error' in read) return sendJson(response, read.status, { error: read.error })
    sendJson(response, 200, (await performAction(name, read.value, context)) ?? {})
  } catch (error) {
    sendJson(response, 400, errorView(error))
  }
}

/** Returns the error of an action as JSON. */
export const errorView = (error: unknown): { error: string; field?: string } => ({
  error: plainMessage(error),
  ...(error instanceof Problem && error.field !== undefined && { field: error.field }),
})

export function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers?: Readonly<Record<string, string>>,
): void {
  sendText(response, status, 'application/json', JSON.stringify(value), headers)
}

import { randomUUID } from 'node:crypto'
import { CampaignClient } from '../../client.ts'
import { argumentsOf } from '../../endpoints/arguments.ts'
import { endpoints, type OperationName } from '../../endpoints/index.ts'
import { InvalidRequestError } from '../../errors/client-errors.ts'
import { describeAt } from '../../shared/issue.ts'
import { type MethodView, Problem } from '../protocol.ts'
import type { Feed } from './feed.ts'
import { CALL_HEADER } from './request-view.ts'

/** How the console calls its own service. */
export interface Caller {
  /** A token that the service accepts. The page never gets it. */
  readonly accessToken: string
  /** The path of webhook registration, below the base URL. */
  readonly registrationPath: string
}

/** Describes the methods of the client for the form. */
export const methodViews = ({ registrationPath }: Caller): readonly MethodView[] =>
  (Object.keys(endpoints) as OperationName[]).map((name) => {
    const { method, path = registrationPath } = endpoints[name]
    return { name, method, path, arguments: argumentsOf(name) }
  })

/**
 * Calls a method of the service as your code does: over HTTP, once. Returns the key of the request. A refusal by the service
 * is a result, which the request shows.
 *
 * @throws Problem when the client refuses the arguments, or the service cannot be reached
 */
export async function callMethod(
  name: OperationName,
  given: Readonly<Record<string, unknown>>,
  { feed, baseUrl, accessToken, registrationPath }: Caller & { readonly feed: Feed; readonly baseUrl: string },
): Promise<{ readonly key: string }> {
  const id = randomUUID()
  const client = new CampaignClient({
    baseUrl,
    accessToken,
    webhookRegistrationPath: registrationPath,
    // The service may listen at one address of this machine that is not loopback.
    allowInsecureHttp: true,
    maxRetries: 0,
    headers: { [CALL_HEADER]: id },
  })
  const call = client[name] as (request: unknown) => Promise<unknown>
  let key: string | undefined
  // The request is listed when it arrives. A fault may delay the response, or drop it.
  const arrived = new Promise<void>((resolve) => {
    feed.expectCall(id, (of) => {
      key = of
      resolve()
    })
  })
  const failed = call.call(client, given).then(
    () => undefined,
    (error: unknown) => error,
  )
  const error = await Promise.race([arrived, failed])
  feed.forgetCall(id)
  if (key === undefined) throw problemOf(error)
  return { key }
}

function problemOf(error: unknown): Problem {
  if (!(error instanceof InvalidRequestError))
    return new Problem(error instanceof Error ? error.message : String(error))
  const [issue] = error.issues
  const [field] = issue?.path ?? []
  if (issue === undefined || field === undefined) return new Problem(error.message)
  return new Problem(`${describeAt(issue.path.join('.'), issue.message)}.`, String(field))
}

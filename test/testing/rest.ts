/** A response of the service. */
export interface RestResponse {
  status: number
  headers: Headers
  body: unknown
}

/** Calls the service without the client. */
export interface Caller {
  get(path: string, query?: Record<string, string>, init?: RequestInit): Promise<RestResponse>
  post(path: string, body: unknown, init?: RequestInit): Promise<RestResponse>
  /** Sends no token and no content type, and returns the response. */
  raw(path: string, init?: RequestInit): Promise<Response>
}

export const BASE_URL = 'https://campaign.example/api/v1'

export function caller(fetch: typeof globalThis.fetch, { baseUrl = BASE_URL, token = 'any-token' } = {}): Caller {
  const call = async (url: string, init: RequestInit): Promise<RestResponse> => {
    const headers = new Headers({ authorization: `Bearer ${token}` })
    if (init.body != null) headers.set('content-type', 'application/json')
    new Headers(init.headers).forEach((value, name) => {
      headers.set(name, value)
    })
    const response = await fetch(url, { ...init, headers })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: response.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : text,
    }
  }
  return {
    get: (path, query = {}, init) => call(`${baseUrl}${path}?${new URLSearchParams(query)}`, { ...init }),
    post: (path, body, init) => call(`${baseUrl}${path}`, { method: 'POST', body: JSON.stringify(body), ...init }),
    raw: (path, init) => fetch(`${baseUrl}${path}`, init),
  }
}

export const ok = (data?: unknown) => ({
  status: 200,
  body: data === undefined ? { success: true } : { success: true, data },
})

const MESSAGES = { 400: 'bad request', 401: 'unauthorized', 403: 'access denied', 500: 'internal error' }

/** A response with the standard error envelope, in which `success` is true. */
export const refused = (status: keyof typeof MESSAGES) => ({
  status,
  body: { success: true, error: { code: status, message: MESSAGES[status] } },
})

export const stringError = (error: string) => ({ status: 400, body: { success: false, error } })

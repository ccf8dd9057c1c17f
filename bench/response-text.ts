import type { ClientRequest, IncomingMessage } from 'node:http'

/** Reads the response to a node:http request as text. */
export function responseText(request: ClientRequest): Promise<string> {
  return new Promise((resolve, reject) => {
    request.on('error', reject)
    request.on('response', (response: IncomingMessage) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve(Buffer.concat(chunks).toString()))
      response.on('error', reject)
    })
  })
}

import type { ClientRequest, IncomingMessage } from 'node:http'

/** Reads the answer to a node:http request as text. */
export function responseText(request: ClientRequest): Promise<string> {
  return new Promise((resolve, reject) => {
    request.on('error', reject)
    request.on('response', (answer: IncomingMessage) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('end', () => resolve(Buffer.concat(chunks).toString()))
      answer.on('error', reject)
    })
  })
}

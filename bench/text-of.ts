import type { ClientRequest, IncomingMessage } from 'node:http'

/** The text of the answer to a request of node:http: the least that has to be done for it. */
export function textOf(request: ClientRequest): Promise<string> {
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

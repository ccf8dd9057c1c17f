import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

const END_OF_HEAD = '\r\n\r\n'

/** A connection that sends prepared requests. To save CPU time, it reads only the status and the end of a response. */
export class PlainConnection {
  readonly #socket: Socket
  #received = ''
  #responded: (status: number) => void = () => undefined
  #failed: (reason: unknown) => void = () => undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => this.#read(text))
    socket.on('error', (error) => this.#failed(error))
    socket.on('close', () => this.#failed(new Error('the server closed the connection')))
  }

  static async open(port: number): Promise<PlainConnection> {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    return new PlainConnection(socket)
  }

  /** Sends a request. Resolves to the status when the response is complete. */
  send(request: Uint8Array): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#responded = resolve
      this.#failed = reject
      this.#socket.write(request)
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #read(text: string): void {
    this.#received += text
    const head = this.#received.indexOf(END_OF_HEAD)
    if (head === -1 || !isComplete(this.#received, head + END_OF_HEAD.length)) return
    const status = Number(this.#received.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length))
    this.#received = ''
    this.#responded(status)
  }
}

/** Whether the body that begins at `start` is complete. */
function isComplete(text: string, start: number): boolean {
  const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1]
  return length === undefined ? text.endsWith(`\r\n0${END_OF_HEAD}`) : text.length >= start + Number(length)
}

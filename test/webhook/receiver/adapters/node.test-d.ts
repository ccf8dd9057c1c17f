import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { NodeHandler, NodeReadable } from 'campaign-client/webhook'
import { expectTypeOf, test } from 'vitest'

interface EventMap {
  close: []
  data: [chunk: unknown]
}

// biome-ignore lint/suspicious/noExplicitAny: copied from @types/node
type AnyListener = (...values: any[]) => void

/** The methods of an emitter in `@types/node` 25 and newer: one generic overload, and one for other events. */
interface GenericEmitter {
  readonly destroyed: boolean
  on<Event extends keyof EventMap>(event: Event, listener: (...values: EventMap[Event]) => void): this
  on(event: string | symbol, listener: AnyListener): this
  removeListener<Event extends keyof EventMap>(event: Event, listener: (...values: EventMap[Event]) => void): this
  removeListener(event: string | symbol, listener: AnyListener): this
  resume(): this
  destroy(error?: Error): this
}

test('the node handler accepts requests and responses of node:http and node:http2', () => {
  expectTypeOf<NodeHandler>().toBeCallableWith({} as IncomingMessage, {} as ServerResponse)
  expectTypeOf<NodeHandler>().toBeCallableWith({} as Http2ServerRequest, {} as Http2ServerResponse)
})

test('NodeReadable accepts the streams of every version of @types/node', () => {
  expectTypeOf<IncomingMessage>().toExtend<NodeReadable>()
  expectTypeOf<GenericEmitter>().toExtend<NodeReadable>()
})

/** What a status of a webhook receiver usually means. */
const STATUS_ADVICE: Readonly<Record<number, string>> = {
  400: 'the receiver cannot read the message: its body is not JSON with an "id", a body parser refused it, or the port expects https',
  401: 'the receiver has another secret than the sender, or it verifies a parsed body instead of the raw body',
  403: 'something in front of the receiver refused the message, such as a login, a firewall or a CSRF check: exempt the route',
  404: 'the server has no route with this path: check the URL',
  405: 'the route does not accept POST: check the URL and the method of the route',
  408: 'the body did not arrive within deadlineMs of the receiver: check the proxy in front of it',
  410: 'the route was removed from the server: check the URL',
  413: 'the message is larger than the limit of the receiver (maxBodyBytes) or of a proxy in front of it',
  500: "the handler threw, or a framework parsed the body before the receiver read it: see the receiver's log",
  502: 'a proxy got no valid response from the receiver: check that it is running, and its address in the proxy',
  503: "the receiver is closing, its secret or store is unavailable, or its handler still runs or stopped early: see the receiver's log",
  504: "a proxy got no response from the receiver in time: set deadlineMs below the time limit of the proxy, and see the receiver's log",
}

/** Returns what the status of a receiver usually means. `undefined` for a status without a usual meaning. */
export function adviceOnStatus(status: number, location: string | undefined): string | undefined {
  if (location === undefined || status < 300 || status > 399) return STATUS_ADVICE[status]
  return (
    `the receiver redirects to ${location}. Redirects are not followed here, and the API description does not ` +
    'say whether the service follows them: register the URL that accepts the message'
  )
}

/** An error of a connection to a receiver. Errors of Node.js's HTTP parser have the `rawPacket` that it could not read. */
export interface ConnectionError {
  readonly code?: string | undefined
  readonly message: string
  readonly rawPacket?: Uint8Array
}

const UNTRUSTED =
  'the certificate is self-signed, or its authority is unknown: set NODE_EXTRA_CA_CERTS to the PEM file of the certificate ' +
  'or of its authority'
const NO_TLS = 'the port does not speak TLS: use http:// instead of https://, or the port of the TLS server'
const HTTP2_ONLY = 'the receiver accepts HTTP/2 only: send to a URL that accepts HTTP/1.1, or enable it in the server'

const CODE_ADVICE: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  CERT_HAS_EXPIRED: 'the certificate of the receiver has expired: renew it',
  // `fetch` has these codes where `node:https` has EPROTO.
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host: use the host of the certificate in the URL',
}

/** Returns the advice on an error of the connection; `undefined` after a timeout or an interrupt. */
export function adviceOnConnection({ code, message, rawPacket }: ConnectionError): string | undefined {
  if (code === undefined) return undefined
  if (code === 'EPROTO' && /wrong version number|packet length too long|http request/.test(message)) {
    return NO_TLS
  }
  if (code === 'EPROTO' && /no application protocol/.test(message)) return HTTP2_ONLY
  // The first frame of an HTTP/2 connection is SETTINGS: type 4.
  if (code === 'HPE_INVALID_CONSTANT' && rawPacket?.[3] === 4) return HTTP2_ONLY
  return CODE_ADVICE[code] ?? 'check the URL (http or https), and that the receiver is running'
}

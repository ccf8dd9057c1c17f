import { version } from '../../package.json'

/** `URL` writes every IPv4 address as four decimal numbers. A name such as `api.localhost` may be looked up in DNS. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** Whether a host is always this machine. @param hostname - the `hostname` of a `URL` */
export const isLoopback = (hostname: string): boolean => LOOPBACK.test(hostname)

/** Ports of other protocols, to which `fetch` does not connect. https://fetch.spec.whatwg.org/#port-blocking */
const FORBIDDEN_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
])

/** Whether `fetch` refuses to connect to the port. The error of `fetch` then looks like a network failure. */
export const isForbiddenPort = (port: number): boolean => FORBIDDEN_PORTS.has(port)

/** The `User-Agent` of requests over node:http, unless the caller sets another one. */
export const USER_AGENT = `campaign-client/${version}`

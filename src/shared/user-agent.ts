import { version } from '../../package.json'

/** The `User-Agent` of requests over node:http, unless the caller sets another one. */
export const USER_AGENT = `campaign-client/${version}`

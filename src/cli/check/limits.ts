/** Maximum number of requests in a run. The help shows it without loading the client. */
export const MAX_REQUESTS = 60

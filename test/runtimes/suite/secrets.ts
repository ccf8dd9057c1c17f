/** The bearer token of every client. It must not appear in any output. */
export const TOKEN = 'runtime-token-7d1f0c52a94e'

/** The webhook secret of every receiver. It must not appear in any output. */
export const SECRET = 'runtime-secret-b83e615f20aa'

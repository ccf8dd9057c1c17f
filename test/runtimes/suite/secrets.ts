/** The bearer token of every client. Nothing a runtime prints may hold it. */
export const TOKEN = 'runtime-token-7d1f0c52a94e'

/** The webhook secret of every receiver. Nothing a runtime prints may hold it. */
export const SECRET = 'runtime-secret-b83e615f20aa'

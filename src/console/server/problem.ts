/** A request of the page that can't be met, told in the user's words. */
export class Problem extends Error {
  /** The field of the form that it belongs to. */
  readonly field: string | undefined

  constructor(message: string, field?: string) {
    super(message)
    this.field = field
  }
}

/** Errors of the service name its methods and options first: `completeTask: aid: …`. The user knows neither. */
export const plainMessage = (error: unknown): string =>
  error instanceof Error ? error.message.replace(/^[a-z]\w+: (?:[\w.[\]]+: )?/, '') : String(error)

/** An action of the page that failed, told in the user's words. */
export class Problem extends Error {
  /** The field of the form that it belongs to. */
  readonly field: string | undefined

  constructor(message: string, field?: string) {
    super(message)
    this.field = field
  }
}

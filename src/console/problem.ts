/** The error of a console action. Its message is shown to the user. */
export class Problem extends Error {
  /** Name of the form field with the wrong value. */
  readonly field: string | undefined

  constructor(message: string, field?: string) {
    super(message)
    this.field = field
  }
}

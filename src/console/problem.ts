/** A failed action of the page, explained in the user's words. */
export class Problem extends Error {
  /** Name of the form field with the wrong value. */
  readonly field: string | undefined

  constructor(message: string, field?: string) {
    super(message)
    this.field = field
  }
}

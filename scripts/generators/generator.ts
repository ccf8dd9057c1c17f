/** Generates files of the repository. */
export interface Generator {
  /** The name for `npm run generate NAME`. */
  readonly name: string
  /** Returns the text of each file by its path in the repository. */
  generate(): Promise<ReadonlyMap<string, string>> | ReadonlyMap<string, string>
}

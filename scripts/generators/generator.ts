/** What writes files that follow from others. */
export interface Generator {
  /** As `npm run generate NAME` takes it. */
  readonly name: string
  /** Gives the whole text of each of its files, by the path from the root of the repository. */
  generate(): Promise<ReadonlyMap<string, string>> | ReadonlyMap<string, string>
}

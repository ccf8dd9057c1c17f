/** A place of the site that can be found: a page, or a section of one. */
export interface SearchRecord {
  /** The page and the place on it, below the folder of the site. */
  readonly url: string
  /** The name of the page, the same for all its sections. */
  readonly title: string
  /** The heading of the section; '' for the beginning of a page. */
  readonly heading: string
  /** What it is called beside its name: "Guide", "Class". */
  readonly kind: string
  readonly text: string
  /** How much it counts: a guide more than a type. */
  readonly weight: number
}

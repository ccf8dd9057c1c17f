/** Guides come before the API reference, and programs and changes last. */
export const searchOptions = {
  fuzzy: 0.2,
  prefix: true,
  boost: { title: 4, text: 2, titles: 1 },
  boostDocument: (id: string): number =>
    id.startsWith('/reference/') ? 0.2 : /^\/(?:examples\/|CHANGELOG)/.test(id) ? 0.3 : 1,
}

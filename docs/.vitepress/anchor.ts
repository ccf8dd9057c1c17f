/** The anchor of a heading, as GitHub makes it: links work there, in the site and in the API reference. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')

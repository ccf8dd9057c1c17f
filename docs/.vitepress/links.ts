import { dirname, join } from 'node:path'

/** The page of a file of the repository. `docs` is the root of the site. */
export const pageOf = (file: string): string => (file === 'README.md' ? 'index.md' : file.replace(/^docs\//, ''))

/** Returns the page and the anchor of a link in a file of the repository; `undefined` for a link to another site. */
export function targetOf(file: string, href: string): { readonly page: string; readonly anchor: string } | undefined {
  const [, path, anchor = ''] = /^(?!\w+:)([^#]+)(#.*)?$/.exec(href) ?? []
  if (path === undefined) return
  return { page: path.startsWith('/') ? path.slice(1) : pageOf(join(dirname(file), path)), anchor }
}

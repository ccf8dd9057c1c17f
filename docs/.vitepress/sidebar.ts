import { existsSync, readFileSync } from 'node:fs'
import type { DefaultTheme } from 'vitepress'
import { endpoints } from '../../src/endpoints/index.ts'

type Item = DefaultTheme.SidebarItem

const ROOT = new URL('../../', import.meta.url)

/** The pages of each group, by their paths in the site. */
const GROUPS = {
  Start: 'README getting-started from-fetch glossary',
  Calls: 'methods tokens retries-and-idempotency errors-and-outcomes error-codes',
  Tools: 'testing command console check',
  'Awards and events': 'bulk-awards webhooks missed-events runtimes-and-frameworks recipes',
  Reference: 'the-service open-questions support SECURITY CHANGELOG',
}

/** The pages below a page. */
const SUBPAGES: Readonly<Record<string, string>> = {
  methods: Object.keys(endpoints).join(' '),
  recipes:
    'nest next workers lambda queue replay secret-rotation progress-page award-outbox leaderboard-mirror ' +
    'client-certificates-and-proxies metrics logs traces testing-in-ci',
}

/** A page under its first heading, with the pages below it. */
function page(path: string): Item {
  const file = new URL(`${/^[A-Z]/.test(path) ? '' : 'docs/'}${path}.md`, ROOT)
  const [, text = path] = /^# (.+)$/m.exec(readFileSync(file, 'utf8')) ?? []
  if (path === 'README') return { text: 'Overview', link: '/' }
  const items = SUBPAGES[path]?.split(' ').map((name) => page(`${path}/${name}`))
  return { text, link: `/${path}`, ...(items && { collapsed: true, items }) }
}

const api: Item = { text: 'API', link: '/reference/' }
export const guides: Item[] = Object.entries(GROUPS).map(([text, paths]) => ({
  text,
  items: [...(text === 'Reference' ? [api] : []), ...paths.split(' ').map(page)],
}))

/** The modules in TypeDoc's own sidebar, without their symbols: every page repeats its sidebar, and all symbols make 25 MB. */
function modulesIn({ link, items = [] }: Item): Item[] {
  if (link === undefined) return []
  return [
    { text: link.slice('/reference/'.length, -1), link },
    ...items.filter((item) => item.items).flatMap(modulesIn),
  ]
}

const FILE = new URL('docs/reference/typedoc-sidebar.json', ROOT)
const modules = existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as Item[]).flatMap(modulesIn) : []

export const sidebar: DefaultTheme.SidebarMulti = {
  '/': guides,
  '/reference/': [
    { text: 'Guides', link: '/getting-started' },
    { ...api, items: modules },
  ],
}

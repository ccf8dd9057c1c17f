import { existsSync, readFileSync } from 'node:fs'
import type { DefaultTheme } from 'vitepress'
import { endpoints } from '../../src/endpoints/index.ts'

type Item = DefaultTheme.SidebarItem

const ROOT = new URL('../../', import.meta.url)

/** The pages of each group, by their paths in the site. */
const GROUPS = {
  Start: 'getting-started client-options from-fetch upgrading glossary',
  Calls: 'methods schemas tokens retries-and-idempotency errors-and-outcomes error-codes',
  'Awards and events':
    'bulk-awards award-ids award-jobs award-ledger webhooks webhook-frameworks webhook-events webhook-stores ' +
    'missed-events runtimes-and-frameworks recipes',
  Operate: 'before-production databases troubleshooting webhooks-on-your-machine',
  Tools: 'testing test-runners testing-webhooks seeds local-service command console check',
  Reference: 'the-service open-questions support SECURITY CHANGELOG',
}

/** The pages below a page. */
const SUBPAGES: Readonly<Record<string, string>> = {
  command: 'award call webhook types dev',
  methods: Object.keys(endpoints).join(' '),
  recipes:
    'nest next workers lambda one-machine queue replay secret-rotation progress-page award-outbox leaderboard-mirror ' +
    'client-certificates-and-proxies nightly-check metrics logs traces testing-in-ci',
}

/** A page under its first heading, with the pages below it. */
function page(path: string): Item {
  const file = new URL(`${/^[A-Z]/.test(path) ? '' : 'docs/'}${path}.md`, ROOT)
  const [, text = path] = /^# (.+)$/m.exec(readFileSync(file, 'utf8')) ?? []
  const items = SUBPAGES[path]?.split(' ').map((name) => page(`${path}/${name}`))
  return { text, link: `/${path}`, ...(items && { collapsed: true, items }) }
}

const api: Item = { text: 'API', link: '/reference/' }
export const guides: Item[] = Object.entries(GROUPS).map(([text, paths]) => ({
  text,
  items: [...(text === 'Reference' ? [api] : []), ...paths.split(' ').map(page)],
}))

/** The modules in TypeDoc's own sidebar, in order. Each has groups of symbols, and modules below it. */
function modulesIn(items: readonly Item[]): (Item & { link: string })[] {
  return items.flatMap((item) => [
    ...(item.link?.endsWith('/') ? [{ ...item, link: item.link }] : []),
    ...modulesIn(item.items ?? []),
  ])
}

const FILE = new URL('docs/reference/typedoc-sidebar.json', ROOT)
const modules = existsSync(FILE) ? modulesIn(JSON.parse(readFileSync(FILE, 'utf8'))) : []

/** All modules, and the symbols of one. Every page contains its sidebar, and the symbols of all modules would make 25 MB. */
const modulesWithSymbolsOf = (link: string | undefined): Item[] => [
  { text: 'Guides', link: '/getting-started' },
  {
    ...api,
    items: modules.map((module) => ({
      text: module.link.slice('/reference/'.length, -1),
      link: module.link,
      ...(module.link === link && {
        items: (module.items ?? [])
          .filter(({ link }) => link === undefined)
          .map(({ collapsed, items = [], ...group }) => ({ ...group, items: items.map(withoutExtension) })),
      }),
    })),
  },
]

const withoutExtension = (item: Item): Item =>
  item.link === undefined ? item : { ...item, link: item.link.replace(/\.md$/, '') }

export const sidebar: DefaultTheme.SidebarMulti = {
  '/': guides,
  '/reference/': modulesWithSymbolsOf(undefined),
  ...Object.fromEntries(modules.map(({ link }) => [link, modulesWithSymbolsOf(link)])),
}

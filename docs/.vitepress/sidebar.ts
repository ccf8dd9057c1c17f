import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path/posix'
import type { DefaultTheme } from 'vitepress'
import { endpoints } from '../../src/endpoints/index.ts'

type Item = DefaultTheme.SidebarItem

const ROOT = new URL('../../', import.meta.url)

/** A page by its path in the site, under its first heading. */
function page(path: string, children: readonly string[] = []): Item {
  const folder = /^[A-Z]/.test(path) ? '' : 'docs/'
  const [, text = path] = /^# (.+)$/m.exec(readFileSync(new URL(`${folder}${path}.md`, ROOT), 'utf8')) ?? []
  const link = path === 'README' ? '/' : `/${path}`
  return children.length > 0
    ? { text, link, collapsed: true, items: children.map((child) => page(child)) }
    : { text, link }
}

export const guides: Item[] = [
  {
    text: 'Start',
    items: ['README', 'getting-started', 'from-fetch', 'glossary'].map((path) => page(path)),
  },
  {
    text: 'Calls',
    items: [
      page(
        'methods',
        Object.keys(endpoints).map((name) => `methods/${name}`),
      ),
      ...['tokens', 'retries-and-idempotency', 'errors-and-outcomes', 'error-codes'].map((path) => page(path)),
    ],
  },
  {
    text: 'Tools',
    items: ['testing', 'command', 'console', 'check'].map((path) => page(path)),
  },
  {
    text: 'Awards and events',
    items: ['bulk-awards', 'webhooks', 'missed-events', 'runtimes-and-frameworks'].map((path) => page(path)),
  },
  {
    text: 'Recipes',
    link: '/recipes',
    collapsed: true,
    items: [
      ...['nest', 'next', 'workers', 'lambda', 'queue', 'replay', 'secret-rotation', 'progress-page'],
      ...['leaderboard-mirror', 'award-outbox', 'client-certificates-and-proxies', 'metrics', 'logs', 'traces'],
      'testing-in-ci',
    ].map((name) => page(`recipes/${name}`)),
  },
  {
    text: 'Reference',
    items: [
      { text: 'API', link: '/reference/' },
      ...['the-service', 'open-questions', 'examples', 'support', 'SECURITY', 'CHANGELOG'].map((path) => page(path)),
    ],
  },
]

/** TypeDoc's own sidebar: one tree of modules, kinds (classes, functions, …) and symbols. */
const FILE = new URL('docs/reference/typedoc-sidebar.json', ROOT)
const roots: Item[] = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : []

const isModule = (item: Item): boolean => item.link !== undefined
const modules = roots.flatMap(function modulesIn(module: Item): Item[] {
  return [module, ...(module.items ?? []).filter(isModule).flatMap(modulesIn)]
})
const nameOf = ({ link = '' }: Item): string => link.slice('/reference/'.length, -1)

/** Lists the symbols of one kind only: every page repeats its sidebar, and with all symbols the site would have 25 MB. */
function kindSidebars(module: Item): [string, Item[]][] {
  const kinds = (module.items ?? []).filter((item) => !isModule(item))
  return kinds.map((open) => {
    const items = kinds.map((kind) =>
      kind === open
        ? kind
        : { ...kind, items: [], link: `${module.link}#${kind.text?.toLowerCase().replace(' ', '-')}` },
    )
    return [
      dirname(open.items?.[0]?.link ?? ''),
      [
        { text: 'API', link: '/reference/' },
        { ...module, text: nameOf(module), items },
      ],
    ]
  })
}

export const sidebar: DefaultTheme.SidebarMulti = {
  '/': guides,
  '/reference/': [
    {
      text: 'API',
      link: '/reference/',
      items: modules.map((module) => ({ ...module, text: nameOf(module), items: [] })),
    },
  ],
  ...Object.fromEntries(modules.flatMap(kindSidebars)),
}

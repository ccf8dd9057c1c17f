import { existsSync, readFileSync } from 'node:fs'
import type { DefaultTheme } from 'vitepress'
import { endpoints } from '../../src/endpoints/index.ts'

type Item = DefaultTheme.SidebarItem

const ROOT = new URL('../../', import.meta.url)

/** The pages of each job, by their paths in the site. Each page has one place. */
const GROUPS = {
  Start: 'getting-started from-fetch command recipes glossary',
  Call:
    'client-options methods schemas tokens retries-and-idempotency errors-and-outcomes recipes/progress-page ' +
    'recipes/next calls-in-other-languages',
  Award:
    'bulk-awards award-ledger award-jobs recipes/award-outbox command/award command/ledger award-day undo-an-award',
  Receive:
    'webhooks webhook-frameworks webhook-events webhook-stores webhook-receiver failed-messages recipes/queue ' +
    'missed-events recipes/nightly-mirror recipes/leaderboard-mirror webhooks-in-other-languages ' +
    'webhooks-on-your-machine command/webhook',
  Test: 'testing recipes/test-runners testing-webhooks seeds console local-service command/dev check',
  Operate:
    'before-production recipes/metrics recipes/logs recipes/traces recipes/client-certificates-and-proxies ' +
    'recipes/secret-rotation databases shutdown troubleshooting',
  Reference: 'error-codes the-service open-questions support benchmarks upgrading SECURITY CHANGELOG',
}

/** The pages below a page. */
const SUBPAGES: Readonly<Record<string, string>> = { methods: Object.keys(endpoints).join(' ') }

/** A page under its first heading, with the pages below it. */
function page(path: string): Item {
  const file = new URL(`${/^[A-Z]/.test(path) ? '' : 'docs/'}${path}.md`, ROOT)
  const [, text = path] = /^# (.+)$/m.exec(readFileSync(file, 'utf8')) ?? []
  const items = SUBPAGES[path]?.split(' ').map((name) => page(`${path}/${name}`))
  return { text, link: `/${path}`, ...(items && { collapsed: true, items }) }
}

const api: Item = { text: 'API', link: '/reference/' }

/**
 * The groups. Only that of the current page is unfolded. Each is a link to its first page: VitePress makes a group without a
 * link a button, with another button in it.
 */
export const guides: Item[] = Object.entries(GROUPS).map(([text, paths]) => {
  const pages = paths.split(' ').map(page)
  const [first] = pages
  return {
    text,
    ...(first && { link: first.link, docFooterText: first.text }),
    collapsed: true,
    items: [...pages, ...(text === 'Reference' ? [api] : [])],
  }
})

/** The pages of the API reference, as TypeDoc lists them. Of the exports with their own pages, the functions are shown. */
function referencePages(): Item[] {
  const file = new URL('docs/reference/typedoc-sidebar.json', ROOT)
  const shown = (items: readonly Item[]): Item[] =>
    items.flatMap((item) => {
      const below = item.items ?? []
      if (item.link === undefined) return item.text === 'Functions' ? below : []
      return { ...item, ...(below.length > 0 && { items: shown(below) }) }
    })
  return existsSync(file) ? shown(JSON.parse(readFileSync(file, 'utf8'))) : []
}

const reference: Item[] = [{ ...api, items: referencePages().map((root) => ({ ...root, collapsed: false })) }]

export const sidebar: DefaultTheme.SidebarMulti = { '/': guides, '/reference/': reference }

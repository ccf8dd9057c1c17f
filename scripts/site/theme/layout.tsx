import { JSX, type PageEvent, type Reflection, ReflectionKind } from 'typedoc'
import { read } from '../../repository.ts'
import type { ReferenceContext } from './context.tsx'
import type { Entry, Fold } from './navigation.ts'
import { pageContents } from './page-contents.tsx'
import { editedIn, importOf, kindOf } from './source.ts'

/** Before anything is drawn, so that a page never flashes in the wrong theme. */
const CHOSEN_THEME = "try{document.documentElement.dataset.theme=localStorage.getItem('theme')||'os'}catch{}"

export function layout(
  context: ReferenceContext,
  content: JSX.Element | string,
  page: PageEvent<Reflection>,
): JSX.Element {
  const title = page.model.name
  return (
    <html lang="en" data-base={context.relativeURL('./')} data-theme="os">
      <head>
        <meta charset="utf-8" />
        <title>{title === page.project.name ? title : `${title} · ${page.project.name}`}</title>
        <meta name="description" content={`${title}: documentation of ${page.project.name}`} />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <link rel="icon" type="image/svg+xml" href={context.relativeURL('assets/favicon.svg')} />
        <link rel="stylesheet" href={context.relativeURL('assets/site-style.css')} />
        <link rel="stylesheet" href={context.relativeURL('assets/highlight.css')} />
        <script>
          <JSX.Raw html={CHOSEN_THEME} />
        </script>
        <script defer src={context.relativeURL('assets/site.js')}></script>
      </head>
      <body>
        <a class="skip" href="#content">
          Skip to the content
        </a>
        {toolbar(context, page)}
        <div class="frame">
          <nav id="site-menu" class="site-menu" aria-label="Pages" popover="auto">
            {siteMenu(context, page)}
          </nav>
          <main id="content" tabIndex={-1}>
            {breadcrumbs(context, page)}
            <article class={`prose ${page.model.isDocument() || page.url === 'index.html' ? 'guide' : 'api'}`}>
              {apiHeading(context, page)}
              {content}
            </article>
            {pageEnd(context, page)}
          </main>
          <aside id="page-menu" class="page-menu" aria-label="On this page" popover="auto">
            {pageContents(page)}
          </aside>
        </div>
        <dialog id="search" aria-label="Search">
          <div class="search-field">
            <input
              id="search-input"
              type="search"
              role="combobox"
              aria-label="Search the documentation"
              aria-controls="search-results"
              aria-expanded="false"
              aria-autocomplete="list"
              placeholder="Search the documentation"
              autocomplete="off"
              autocapitalize="off"
              spellcheck={false}
              maxLength={100}
            />
            <button type="button" id="search-close">
              Esc
            </button>
          </div>
          <div id="search-results" role="listbox" aria-label="Results"></div>
          <p id="search-status" role="status"></p>
        </dialog>
      </body>
    </html>
  )
}

function toolbar(context: ReferenceContext, page: PageEvent<Reflection>): JSX.Element {
  return (
    <header class="toolbar">
      <button type="button" class="tool menu-button" popovertarget="site-menu" aria-label="Pages">
        <span class="bars" aria-hidden="true"></span>
      </button>
      <a class="brand" href={context.relativeURL('index.html')}>
        <span class="mark" aria-hidden="true"></span>
        {page.project.name}
        <span class="version">{version}</span>
      </a>
      <button type="button" id="search-open" class="search-open" aria-keyshortcuts="Control+K Meta+K">
        <span class="lens" aria-hidden="true"></span>
        <span class="search-word">Search</span>
        <span class="keys" aria-hidden="true">
          Ctrl K
        </span>
      </button>
      <button type="button" id="theme" class="tool" aria-label="Theme: as the system" title="Theme: as the system">
        <span class="sun" aria-hidden="true"></span>
      </button>
      <button type="button" class="tool page-menu-button" popovertarget="page-menu" aria-label="On this page">
        <span class="lines" aria-hidden="true"></span>
      </button>
    </header>
  )
}

const { version } = JSON.parse(read('package.json')) as { version: string }

function siteMenu(context: ReferenceContext, page: PageEvent<Reflection>): JSX.Element {
  const isPage = ({ target }: Entry): boolean => page.url !== 'index.html' && target === page.model
  const links = (entries: readonly Entry[]): JSX.Element => (
    <ul>
      {entries.map((entry) => (
        <li>
          <a href={context.addressOf(entry.target)} aria-current={isPage(entry) ? 'page' : undefined}>
            {entry.text}
          </a>
        </li>
      ))}
    </ul>
  )
  const current = context.site.groupOf(page.model)?.title ?? 'Guides'
  return (
    <>
      <a
        class="menu-home"
        href={context.relativeURL('index.html')}
        aria-current={page.url === 'index.html' ? 'page' : undefined}
      >
        Overview
      </a>
      {context.site.groups.map(({ title, entries, folds }) => (
        <details class="group" open={title === current}>
          <summary>{title}</summary>
          {links(entries)}
          {folds.map((fold: Fold) => (
            <details class="fold" open={fold.entries.some(isPage)}>
              <summary>{fold.title}</summary>
              {links(fold.entries)}
            </details>
          ))}
        </details>
      ))}
    </>
  )
}

function breadcrumbs(context: ReferenceContext, page: PageEvent<Reflection>): JSX.Element {
  if (page.url === 'index.html') return <></>
  const group = context.site.groupOf(page.model)
  const first = group?.entries[0]
  return (
    <nav class="breadcrumbs" aria-label="Breadcrumbs">
      <ol>
        <li>
          <a href={context.relativeURL('index.html')}>Overview</a>
        </li>
        {group !== undefined && group.title !== page.model.name && (
          <li>
            {first === undefined || first.target === page.model ? (
              group.title
            ) : (
              <a href={context.addressOf(first.target)}>{group.title}</a>
            )}
          </li>
        )}
        <li aria-current="page">{page.model.name}</li>
      </ol>
    </nav>
  )
}

function apiHeading(context: ReferenceContext, page: PageEvent<Reflection>): JSX.Element {
  const { model } = page
  if (model.isDocument() || page.url === 'index.html') return <></>
  const module = model.parent?.kindOf(ReflectionKind.Module) ? importOf(model) : undefined
  const isType = model.kindOf(ReflectionKind.Interface | ReflectionKind.TypeAlias)
  return (
    <header class="api-heading">
      {!model.isProject() && <p class="kind">{kindOf(model)}</p>}
      <h1>
        {page.model.name} {context.reflectionFlags(model)}
      </h1>
      {module !== undefined && (
        <p class="import">
          <code>
            import {isType ? 'type ' : ''}
            {'{ '}
            {model.name}
            {' }'} from '{module}'
          </code>
        </p>
      )}
    </header>
  )
}

function pageEnd(context: ReferenceContext, page: PageEvent<Reflection>): JSX.Element {
  const order = context.site.readingOrder
  const place = order.findIndex(({ target }) => target === page.model)
  const before = place === -1 ? undefined : order[place - 1]
  const after = page.url === 'index.html' ? order[0] : place === -1 ? undefined : order[place + 1]
  const source = editedIn(page.model)
  return (
    <footer class="page-end">
      {(before ?? after) && (
        <nav class="pager" aria-label="Previous and next page">
          {before && (
            <a rel="prev" href={context.addressOf(before.target)}>
              <span>Previous</span>
              {before.text}
            </a>
          )}
          {after && (
            <a rel="next" href={context.addressOf(after.target)}>
              <span>Next</span>
              {after.text}
            </a>
          )}
        </nav>
      )}
      {source !== undefined && <p class="edit">{editLink(source)}</p>}
    </footer>
  )
}

const { repository } = JSON.parse(read('package.json')) as { repository?: { url: string } | string }

/** A link where package.json says where the repository is; without that, the file to edit. */
function editLink(source: string): JSX.Element {
  const url = (typeof repository === 'string' ? repository : repository?.url)?.replace(/^git\+|\.git$/g, '')
  if (url === undefined) {
    return (
      <>
        Edit this page: <code>{source}</code> in the repository
      </>
    )
  }
  return <a href={`${url}/edit/main/${source}`}>Edit this page</a>
}

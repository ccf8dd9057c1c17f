import type { Hit } from '../search/engine.ts'
import type { SearchRecord } from '../search/record.ts'
import { element } from './element.ts'

const EXCERPT = 140

/** Opens at Ctrl+K, Cmd+K, `/` and the button; loads its index then. Arrows choose, Enter goes. */
export function openSearchOnDemand(): void {
  const dialog = element('search', HTMLDialogElement)
  const input = element('search-input', HTMLInputElement)
  const results = element('search-results', HTMLElement)
  const status = element('search-status', HTMLElement)
  const base = document.documentElement.dataset.base ?? './'
  let chosen = -1

  const options = () => [...results.querySelectorAll<HTMLAnchorElement>('a')]
  const choose = (index: number) => {
    const all = options()
    chosen = all.length === 0 ? -1 : (index + all.length) % all.length
    for (const [place, option] of all.entries()) option.setAttribute('aria-selected', String(place === chosen))
    all[chosen]?.scrollIntoView({ block: 'nearest' })
    if (chosen === -1) input.removeAttribute('aria-activedescendant')
    else input.setAttribute('aria-activedescendant', `search-result-${chosen}`)
  }
  const show = () => {
    const typed = input.value.trim()
    const hits = typed === '' ? [] : (globalThis.searchEngine?.find(typed) ?? [])
    results.replaceChildren(...hits.map((hit) => group(hit, typed, base)))
    for (const [index, option] of options().entries()) option.id = `search-result-${index}`
    input.setAttribute('aria-expanded', String(hits.length > 0))
    status.textContent =
      typed === ''
        ? 'Type what you look for: a task, an error, a name.'
        : hits.length === 0
          ? `Nothing found for “${typed}”.`
          : ''
    choose(0)
  }
  const open = async () => {
    if (dialog.open) return
    dialog.showModal()
    input.select()
    if (globalThis.searchEngine === undefined) {
      status.textContent = 'Loading…'
      try {
        await script(`${base}assets/search-records.js`)
        await script(`${base}assets/search-engine.js`)
      } catch {
        status.textContent = 'The index could not be loaded.'
        return
      }
    }
    show()
  }

  element('search-open', HTMLButtonElement).addEventListener('click', open)
  element('search-close', HTMLButtonElement).addEventListener('click', () => dialog.close())
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog || target instanceof HTMLAnchorElement) dialog.close()
  })
  input.addEventListener('input', show)
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') choose(chosen + 1)
    else if (event.key === 'ArrowUp') choose(chosen - 1)
    else if (event.key === 'Enter') options()[chosen]?.click()
    else return
    event.preventDefault()
  })
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, select')
    const isShortcut = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)
    if (!isShortcut && (event.key !== '/' || isTyping)) return
    event.preventDefault()
    void open()
  })
}

function group({ page, sections }: Hit, typed: string, base: string): HTMLElement {
  const box = document.createElement('div')
  box.className = 'hit'
  box.append(option(page, page.title, page.kind, sections.length > 0 ? '' : page.text, typed, base))
  for (const section of sections) box.append(option(section, section.heading, '', section.text, typed, base))
  return box
}

function option(
  { url }: SearchRecord,
  title: string,
  kind: string,
  text: string,
  typed: string,
  base: string,
): HTMLAnchorElement {
  const link = document.createElement('a')
  link.href = base + url
  link.setAttribute('role', 'option')
  link.tabIndex = -1
  if (kind === '') link.className = 'section'
  const name = document.createElement('b')
  name.textContent = title
  link.append(name)
  if (kind !== '') {
    const label = document.createElement('span')
    label.className = 'hit-kind'
    label.textContent = kind
    link.append(label)
  }
  if (text !== '') {
    const excerpt = document.createElement('span')
    excerpt.className = 'excerpt'
    excerpt.append(...excerptOf(text, typed))
    link.append(excerpt)
  }
  return link
}

/** Some words around the first that was typed, which is marked. */
function excerptOf(text: string, typed: string): (string | Node)[] {
  const words = typed.split(/\W+/).filter((word) => word.length > 2)
  const pattern = new RegExp(words.join('|') || '$^', 'i')
  const found = pattern.exec(text)
  const from = Math.max(0, text.lastIndexOf(' ', (found?.index ?? 0) - 40))
  const end = text.lastIndexOf(' ', from + EXCERPT)
  const part =
    text.length <= from + EXCERPT ? text.slice(from) : `${text.slice(from, end > from ? end : from + EXCERPT)} …`
  const match = pattern.exec(part)
  const dots = from > 0 ? '… ' : ''
  if (match === null) return [dots + part]
  const mark = document.createElement('mark')
  mark.textContent = match[0]
  return [dots + part.slice(0, match.index), mark, part.slice(match.index + match[0].length)]
}

function script(address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const tag = document.createElement('script')
    tag.src = address
    tag.addEventListener('load', () => resolve())
    tag.addEventListener('error', reject)
    document.head.append(tag)
  })
}

import { element } from './element.ts'

/** The menu of pages is long: the page itself is scrolled into its middle. */
export function showPageInMenu(): void {
  const menu = element('site-menu', HTMLElement)
  const scroll = () => {
    const current = menu.querySelector('[aria-current]')
    if (!(current instanceof HTMLElement)) return
    const place = current.getBoundingClientRect().top - menu.getBoundingClientRect().top
    if (place > menu.clientHeight * 0.8) menu.scrollTop = place - menu.clientHeight / 2
  }
  scroll()
  menu.addEventListener('toggle', scroll)
  // On a phone a link to the same page must uncover it.
  const contents = element('page-menu', HTMLElement)
  contents.addEventListener('click', ({ target }) => {
    if (target instanceof HTMLAnchorElement && contents.matches(':popover-open')) contents.hidePopover()
  })
}

/** Marks in the contents of the page what is being read. */
export function markPlaceOnPage(): void {
  const links = new Map(
    [...document.querySelectorAll<HTMLAnchorElement>('#page-menu a')].map((link) => [
      decodeURIComponent(link.hash.slice(1)),
      link,
    ]),
  )
  const headings = [...links.keys()].flatMap((id) => document.getElementById(id) ?? [])
  if (headings.length === 0) return
  const mark = () => {
    const read = headings.filter((heading) => heading.getBoundingClientRect().top < 120).at(-1)
    for (const [id, link] of links) link.toggleAttribute('aria-current', id === read?.id)
  }
  new IntersectionObserver(mark, { rootMargin: '-100px 0px -60% 0px' }).observe(document.body)
  addEventListener('scroll', () => requestAnimationFrame(mark), { passive: true })
  mark()
}

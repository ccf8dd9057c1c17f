import { JSX, type PageEvent, type PageHeading, type Reflection } from 'typedoc'

/** The headings of a page as links: two levels of a guide, the sections and members of an API page. */
export function pageContents(page: PageEvent<Reflection>): JSX.Element {
  const sections = page.pageSections
    .map(({ title, headings }) => ({ title, headings: headings.filter(isShown) }))
    .filter(({ headings }) => headings.length > 0)
  if (sections.length === 0) return <></>
  return (
    <>
      <p class="page-menu-title">On this page</p>
      {sections.map(({ title, headings }) => (
        <>
          {title !== '' && <p class="page-menu-section">{title}</p>}
          <ul>
            {headings.map((heading) => (
              <li class={heading.level === 3 ? 'deeper' : ''}>
                <a href={heading.link}>{heading.text}</a>
              </li>
            ))}
          </ul>
        </>
      ))}
    </>
  )
}

const isShown = ({ level }: PageHeading): boolean => level === undefined || level === 2 || level === 3

import { type CommentTag, JSX } from 'typedoc'
import type { ReferenceContext } from './context.tsx'

/** What a function throws, one line for each `@throws`. Names of classes become links as they do everywhere. */
export function throwsList(context: ReferenceContext, tags: readonly CommentTag[]): JSX.Element {
  const anchor = context.slugger.slug('throws')
  return (
    <div class="throws tsd-comment tsd-typography">
      <h4 class="tsd-anchor-link" id={anchor}>
        Throws
        <a href={`#${anchor}`} aria-label="Permalink" class="tsd-anchor-icon">
          {context.icons.anchor()}
        </a>
      </h4>
      <ul>
        {tags.map(({ content }) => (
          <li>
            <JSX.Raw html={withNamesAsCode(context.markdown(content))} />
          </li>
        ))}
      </ul>
    </div>
  )
}

/** The names that the line begins with: `A`, `A or B`, `A | B | C`. */
function withNamesAsCode(html: string): string {
  return html.replace(/^<p>[A-Z]\w*Error(?:(?: \| |, and |, or |, | and | or )[A-Z]\w*Error)*/, (names) =>
    names.replaceAll(' | ', ', ').replaceAll(/[A-Z]\w*Error/g, '<code>$&</code>'),
  )
}

import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { Link } from './link.tsx'

interface PanelProps {
  readonly title: string
  /** What stands beside the title: a filter, a button. */
  readonly tools?: ComponentChildren
  /** What stands between the title and the content: filters. */
  readonly filters?: ComponentChildren
  /** Where all of it is, when this is only a part. */
  readonly all?: string | undefined
  readonly children: ComponentChildren
}

/** A part of the console, under its heading. */
export function Panel({ title, tools, filters, all, children }: PanelProps) {
  const id = useId()
  return (
    <section class="panel" aria-labelledby={id}>
      <header class="panel-head">
        <h2 id={id}>{title}</h2>
        <div class="tools">
          {tools}
          {all !== undefined && (
            <Link to={all} class="all" label={`All of ${title.toLowerCase()}`}>
              All
            </Link>
          )}
        </div>
      </header>
      {filters && <div class="filters">{filters}</div>}
      {children}
    </section>
  )
}

/** An item of a list, opened. */
export function Item({
  title,
  back,
  tools,
  children,
}: {
  title: ComponentChildren
  back: string
  tools?: ComponentChildren
  children: ComponentChildren
}) {
  const id = useId()
  return (
    <section class="panel item" aria-labelledby={id}>
      <header class="panel-head">
        <h2 id={id}>{title}</h2>
        <div class="tools">
          {tools}
          <Link to={back} class="close" label="Close">
            ✕
          </Link>
        </div>
      </header>
      {children}
    </section>
  )
}

/** In the place of a list that is empty. */
export const Empty = ({ children }: { children: ComponentChildren }) => <p class="empty">{children}</p>

/** In the place of what could not be loaded, or is being loaded. */
export const Pending = ({ error }: { error: string | undefined }) =>
  error === undefined ? <p class="empty">…</p> : <p class="empty error">{error}</p>

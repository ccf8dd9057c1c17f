import type { ComponentChildren } from 'preact'
import { useEffect, useId } from 'preact/hooks'
import { filterQuery, itemTitle } from '../route.ts'
import { Link } from './link.tsx'
import { Text } from './text.tsx'

interface PanelProps {
  readonly title: string
  /** Buttons beside the title. */
  readonly tools?: ComponentChildren
  /** Filters below the title. */
  readonly filters?: ComponentChildren
  readonly children: ComponentChildren
}

/** A part of the page with its heading. */
export function Panel({ title, tools, filters, children }: PanelProps) {
  const id = useId()
  return (
    <section class="panel" aria-labelledby={id}>
      <header class="panel-head">
        <h2 id={id}>
          <Text>{title}</Text>
        </h2>
        <div class="tools">{tools}</div>
      </header>
      {filters && <div class="filters">{filters}</div>}
      {children}
    </section>
  )
}

interface ItemProps {
  readonly title: string
  /** Path of the list that contains the item. */
  readonly back: string
  readonly tools?: ComponentChildren
  readonly children: ComponentChildren
}

/** An open item of a list. The browser tab shows the same title. */
export function Item({ title, back, tools, children }: ItemProps) {
  useEffect(() => {
    itemTitle.value = title.slice(0, 60)
    return () => {
      itemTitle.value = undefined
    }
  }, [title])
  const close = (
    <Link to={back} keepsFilters class="close" label="Close">
      ✕
    </Link>
  )
  return (
    <Panel title={title} tools={[tools, close]}>
      {children}
    </Panel>
  )
}

/** A link that lets the user choose the item to compare with this one. */
export const CompareLink = ({ back, itemKey }: { back: string; itemKey: string }) => {
  const query = new URLSearchParams(filterQuery.value)
  query.set('compare', itemKey)
  return (
    <Link to={`${back}?${query}`} class="button small">
      Compare
    </Link>
  )
}

/** Shown while an item is loading, or when it does not exist. */
export const AbsentItem = ({ title, back, error }: Omit<ItemProps, 'children'> & { error: string | undefined }) => (
  <Item title={title} back={back}>
    <p class={error === undefined ? 'empty' : 'empty error'} role={error === undefined ? undefined : 'alert'}>
      {error ?? 'Loading'}
    </p>
    {error !== undefined && (
      <Link to={back} keepsFilters>
        Back to the list
      </Link>
    )}
  </Item>
)

/** Shown instead of an empty list. */
export const Empty = ({ children }: { children: ComponentChildren }) => <p class="empty">{children}</p>

/** Names and values in two columns. Empty values are not shown. */
export const Facts = ({ facts }: { facts: readonly (readonly [name: string, value: ComponentChildren])[] }) => (
  <dl class="facts">
    {facts
      .filter(([, value]) => value !== '' && value !== undefined)
      .map(([name, value]) => (
        <div key={name}>
          <dt>
            <Text>{name}</Text>
          </dt>
          <dd>{typeof value === 'string' ? <Text>{value}</Text> : value}</dd>
        </div>
      ))}
  </dl>
)

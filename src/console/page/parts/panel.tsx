import type { ComponentChildren } from 'preact'
import { useEffect, useId } from 'preact/hooks'
import { filterQuery, itemTitle } from '../route.ts'
import { Link } from './controls.tsx'
import { safe } from './text.tsx'

interface PanelProps {
  readonly title: string
  /** Buttons beside the title. */
  readonly tools?: ComponentChildren
  readonly children: ComponentChildren
}

/** A part of the page with its heading. */
export function Panel({ title, tools, children }: PanelProps) {
  const id = useId()
  return (
    <section class="panel" aria-labelledby={id}>
      <header class="flow panel-head">
        <h2 id={id}>{safe(title)}</h2>
        <div class="flow tools">{tools}</div>
      </header>
      {children}
    </section>
  )
}

interface ItemProps extends PanelProps {
  /** Path of the list that contains the item. */
  readonly back: string
}

/** An open item of a list. The browser tab shows the same title. */
export function Item({ title, back, tools, children }: ItemProps) {
  useEffect(() => {
    itemTitle.value = title.slice(0, 60)
    return () => {
      itemTitle.value = undefined
    }
  }, [title])
  const close = <Link to={back} class="close" label="Close" text="✕" />
  return <Panel {...{ title, tools: [tools, close], children }} />
}

/** Links to the form that sends an item again, if there is one, and to the list, to choose an item to compare with it. */
export function ItemTools({ back, itemKey, edit }: { back: string; itemKey: string; edit: string | undefined }) {
  const query = new URLSearchParams(filterQuery.value)
  query.set('compare', itemKey)
  return (
    <>
      {edit !== undefined && <Link to={edit} class="button small" text="Edit and send" />}
      <Link to={`${back}?${query}`} class="button small" text="Compare" />
    </>
  )
}

/** Shown while an item is loading, or when it does not exist. */
export const AbsentItem = ({ title, back, error }: Omit<ItemProps, 'children'> & { error: string | undefined }) => (
  <Item title={title} back={back}>
    <p class={error === undefined ? 'empty muted' : 'empty danger'} role={error === undefined ? undefined : 'alert'}>
      {error ?? 'Loading'}
    </p>
    {error !== undefined && <Link to={back} text="Back to the list" />}
  </Item>
)

/** Shown instead of an empty list. */
export const Empty = ({ children }: { children: ComponentChildren }) => <p class="empty muted">{children}</p>

/** A part of an item that is closed at first. */
export const Fold = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <details class="fold">
    <summary>{title}</summary>
    {children}
  </details>
)

interface FactsProps {
  readonly facts: readonly (readonly [name: string, value: ComponentChildren])[]
  readonly class?: string
}

/** Names and values. Empty values are not shown. */
export const Facts = ({ facts, class: name = 'facts' }: FactsProps) => (
  <dl class={name}>
    {facts
      .filter(([, value]) => value !== '' && value !== undefined)
      .map(([name, value]) => (
        <div key={name}>
          <dt>{safe(name)}</dt>
          <dd>{typeof value === 'string' ? safe(value) : value}</dd>
        </div>
      ))}
  </dl>
)

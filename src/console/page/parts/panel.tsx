import type { ComponentChildren } from 'preact'
import { useEffect, useId } from 'preact/hooks'
import { filterQuery, itemTitle } from '../route.ts'
import { CopyButton, Link } from './controls.tsx'
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
  }, [title])
  const close = <Link to={back} class="close" label="Close" text="✕" />
  return <Panel {...{ title, tools: [tools, close], children }} />
}

interface ItemToolsProps {
  readonly back: string
  readonly itemKey: string
  /** Path of the form that sends the item again. */
  readonly edit: string | undefined
  readonly curl: string | undefined
}

/** Ways to send an item again, and a link to the list, to choose an item to compare with it. */
export function ItemTools({ back, itemKey, edit, curl }: ItemToolsProps) {
  const query = new URLSearchParams(filterQuery.value)
  query.set('compare', itemKey)
  return (
    <>
      {curl !== undefined && <CopyButton text={curl} label="Copy as curl" />}
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
export const Empty = ({ children }: { children: ComponentChildren }) => <p class="muted">{children}</p>

/** A paragraph that stands out. */
export const Callout = ({ title, text }: { title?: string; text: ComponentChildren }) => (
  <p class="callout">
    {title !== undefined && <strong>{title} </strong>}
    {text}
  </p>
)

/** A heading with a button that copies what follows. */
export const CopyHead = ({ title, text, label }: { title: string; text: string; label: string }) => (
  <div class="flow spread minor-head">
    <h3 class="minor">{title}</h3>
    <CopyButton text={text} label={label} />
  </div>
)

/** A part of an item that is closed at first. */
export const Fold = ({ title, content }: { title: string; content: ComponentChildren }) => (
  <details class="fold">
    <summary>{title}</summary>
    {content}
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

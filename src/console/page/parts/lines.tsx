import { type ComponentChildren, toChildArray } from 'preact'
import { Link } from './link.tsx'
import { Text, Time } from './text.tsx'

/** Lines below a heading; nothing without lines. */
export const Lines = ({ title, children }: { title: string; children: ComponentChildren }) =>
  toChildArray(children).length === 0 ? null : (
    <>
      <h3 class="minor">{title}</h3>
      <ol class="rows">{children}</ol>
    </>
  )

interface LineProps {
  /** Stands before the link. */
  readonly badge: ComponentChildren
  /** The path of the item, and its name. */
  readonly to: string
  readonly name: string
  /** Stands after the name. */
  readonly about?: ComponentChildren
  /** Whether the line and the open item belong to one list, so that the filters of the list stay. */
  readonly keepsFilters?: boolean
  /** Time of the item, in milliseconds since the epoch. */
  readonly at: number
  /** Stands after the time. */
  readonly children?: ComponentChildren
}

/** A link to an item with its state and time. */
export const Line = ({ badge, to, name, about, keepsFilters = false, at, children }: LineProps) => (
  <li class="row">
    {badge}
    <Link to={to} keepsFilters={keepsFilters}>
      <Text>{name}</Text>
    </Link>
    {about}
    <span class="muted">
      <Time ms={at} />
    </span>
    {children}
  </li>
)

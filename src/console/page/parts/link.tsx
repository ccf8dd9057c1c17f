import type { ComponentChildren } from 'preact'
import { filterQuery, go, path } from '../route.ts'

interface LinkProps {
  /** A path of the console, with or without a query. */
  readonly to: string
  /** Whether the filters of the list stay: for links between a list and its items. */
  readonly keepsFilters?: boolean
  readonly class?: string | undefined
  readonly children: ComponentChildren
  readonly label?: string | undefined
}

/** A link within the console. A modifier key opens it in another tab or window. */
export function Link({ to, keepsFilters = false, children, label, class: className }: LinkProps) {
  const target = keepsFilters ? to + filterQuery.value : to
  return (
    <a
      href={target}
      data-to={to}
      class={className}
      aria-label={label}
      aria-current={path.value === to ? 'page' : undefined}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
        event.preventDefault()
        go(target)
      }}
    >
      {children}
    </a>
  )
}

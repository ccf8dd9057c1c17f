import { computed } from '@preact/signals'
import { type ComponentChildren, createContext } from 'preact'
import { useContext, useMemo } from 'preact/hooks'
import { filterQuery, go, path, rowQuery } from '../route.ts'

interface LinkProps {
  /** A path of the console, with or without a query. */
  readonly to: string
  /** Whether the filters of the list stay: for links between a list and its items. */
  readonly keepsFilters?: boolean
  readonly class?: string | undefined
  readonly children: ComponentChildren
  readonly label?: string | undefined
}

/** Within a table: whether the row is its tab stop. */
export const IsTabStop = createContext<boolean | undefined>(undefined)

/** A link within the console. A modifier key opens it in another tab or window. */
export function Link({ to, keepsFilters = false, children, label, class: className }: LinkProps) {
  const isTabStop = useContext(IsTabStop)
  const query = isTabStop === undefined ? filterQuery : rowQuery
  const target = keepsFilters ? to + query.value : to
  // Computed, so that a change of the path renders only the links that it affects.
  const isCurrent = useMemo(() => computed(() => path.value === to), [to])
  return (
    <a
      href={target}
      data-to={to}
      class={className}
      aria-label={label}
      // A table is one tab stop: the link that opens its current row.
      tabIndex={isTabStop === undefined ? undefined : isTabStop && className?.includes('opens') ? 0 : -1}
      aria-current={isCurrent.value ? 'page' : undefined}
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

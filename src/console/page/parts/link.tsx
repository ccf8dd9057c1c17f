import type { ComponentChildren } from 'preact'
import { go, segments } from '../route.ts'

interface LinkProps {
  readonly to: string
  readonly class?: string | undefined
  readonly children: ComponentChildren
  readonly label?: string | undefined
}

/** A link within the console. A modifier key opens it in another tab or window. */
export function Link({ to, children, label, class: className }: LinkProps) {
  const isCurrent = `/${segments.value.map(encodeURIComponent).join('/')}` === to
  return (
    <a
      href={to}
      class={className}
      aria-label={label}
      aria-current={isCurrent ? 'page' : undefined}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
        event.preventDefault()
        go(to)
      }}
    >
      {children}
    </a>
  )
}

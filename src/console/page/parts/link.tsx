import type { ComponentChildren } from 'preact'
import { go, steps } from '../route.ts'

interface LinkProps {
  readonly to: string
  readonly class?: string | undefined
  readonly children: ComponentChildren
  readonly label?: string | undefined
}

/** A link within the console. With a modifier key it opens elsewhere, as any link does. */
export function Link({ to, children, label, class: className }: LinkProps) {
  const isCurrent = `/${steps.value.map(encodeURIComponent).join('/')}` === to
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

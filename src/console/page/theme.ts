import { signal } from '@preact/signals'

/** `system` follows the system's setting. */
export type Theme = 'system' | 'light' | 'dark'

const KEY = 'campaign-client-theme'

export const theme = signal<Theme>(read())
show(theme.value)

export function setTheme(chosen: Theme): void {
  theme.value = chosen
  show(chosen)
  try {
    localStorage.setItem(KEY, chosen)
  } catch {
    // Storage may be disabled. The choice then lasts until the page is closed.
  }
}

function read(): Theme {
  try {
    const kept = localStorage.getItem(KEY)
    return kept === 'light' || kept === 'dark' ? kept : 'system'
  } catch {
    return 'system'
  }
}

function show(chosen: Theme): void {
  if (chosen === 'system') document.documentElement.removeAttribute('data-theme')
  else document.documentElement.dataset.theme = chosen
}

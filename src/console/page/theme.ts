import { signal } from '@preact/signals'

/** As the system has it, unless the reader has chosen otherwise. */
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
    // A browser that keeps nothing: then it is chosen for this page.
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

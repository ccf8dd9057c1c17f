import { effect, signal } from '@preact/signals'

/** A choice that the browser remembers. A browser may deny the storage: the choice then ends with the page. */
function remembered<Value extends string | number>(key: string, read: (text: string | null) => Value) {
  let text: string | null = null
  try {
    text = localStorage.getItem(key)
  } catch {}
  const choice = signal(read(text))
  effect(() => {
    try {
      localStorage.setItem(key, String(choice.value))
    } catch {}
  })
  return choice
}

export const THEMES = ['system', 'light', 'dark'] as const

export const themeOf = (text: string | null) => THEMES.find((each) => each === text) ?? 'system'

export const theme = remembered('theme', themeOf)
effect(() => document.documentElement.style.setProperty('color-scheme', theme.value === 'system' ? null : theme.value))

/** Width of the open item in percent of the content. */
export const paneWidth = remembered('pane', (text) => Number(text) || 37)

import { element } from './element.ts'

const THEMES = ['os', 'light', 'dark'] as const
const NAMES = { os: 'as the system', light: 'light', dark: 'dark' }

/** The button goes from theme to theme. The choice is kept for the next page; where nothing can be kept it holds for this one. */
export function switchThemes(): void {
  const button = element('theme', HTMLButtonElement)
  const root = document.documentElement
  const current = () => THEMES.find((theme) => theme === root.dataset.theme) ?? 'os'
  const show = () => {
    const words = `Theme: ${NAMES[current()]}`
    button.setAttribute('aria-label', words)
    button.title = words
  }
  button.addEventListener('click', () => {
    const next = THEMES[(THEMES.indexOf(current()) + 1) % THEMES.length] ?? 'os'
    root.dataset.theme = next
    show()
    try {
      localStorage.setItem('theme', next)
    } catch {
      // No storage, in a private window for instance.
    }
  })
  show()
}

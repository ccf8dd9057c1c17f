import { signal } from '@preact/signals'
import { useId } from 'preact/hooks'

const THEMES = ['system', 'light', 'dark'] as const
type Theme = (typeof THEMES)[number]

const KEY = 'theme'

const isTheme = (value: unknown): value is Theme => THEMES.some((theme) => theme === value)

/** A browser may deny the storage. The choice then ends with the page. */
function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY)
    return isTheme(value) ? value : 'system'
  } catch {
    return 'system'
  }
}

const theme = signal<Theme>(stored())
const apply = () => document.documentElement.setAttribute('data-theme', theme.value)
apply()

function choose(value: string): void {
  if (!isTheme(value)) return
  theme.value = value
  apply()
  try {
    localStorage.setItem(KEY, value)
  } catch {
    // See `stored`.
  }
}

/** Chooses between the colours of the system, light and dark ones. */
export function ThemeSwitch() {
  const id = useId()
  return (
    <div class="theme">
      <label for={id}>Theme</label>
      <select id={id} value={theme.value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {THEMES.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </div>
  )
}

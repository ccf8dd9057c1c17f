import { signal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { store, stored } from './stored.ts'

const THEMES = ['system', 'light', 'dark'] as const
type Theme = (typeof THEMES)[number]

const KEY = 'theme'

const isTheme = (value: unknown): value is Theme => THEMES.some((theme) => theme === value)

const known = stored(KEY)
const theme = signal<Theme>(isTheme(known) ? known : 'system')
const apply = () => document.documentElement.setAttribute('data-theme', theme.value)
apply()

function choose(value: string): void {
  if (!isTheme(value)) return
  theme.value = value
  apply()
  store(KEY, value)
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

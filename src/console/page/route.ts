import { computed, signal } from '@preact/signals'

/** The address of the service, as this page is reached: the port of a container may differ outside. */
export const baseUrl = `${location.origin}/api/v1`

/** Where the user is is the address of the page: every item can be linked to, and the browser's back button works. */
const place = signal(location.pathname + location.search)

addEventListener('popstate', () => {
  place.value = location.pathname + location.search
})

/** The steps of the path, decoded: `['requests', '12']`. */
export const steps = computed<readonly string[]>(() =>
  (place.value.split('?', 1)[0] ?? '').split('/').filter(Boolean).map(decode),
)

const parameters = computed(() => new URLSearchParams(place.value.split('?')[1] ?? ''))

/** The value of a filter in the address. */
export const parameter = (name: string): string => parameters.value.get(name) ?? ''

/** Changes a filter in the address. It adds no history entry: the back button skips the letters of a filter. */
export function setParameter(name: string, value: string): void {
  const next = new URLSearchParams(parameters.value)
  if (value) next.set(name, value)
  else next.delete(name)
  const query = next.size > 0 ? `?${next}` : ''
  place.value = location.pathname + query
  history.replaceState(null, '', place.value)
}

/** Goes to another place of the console. */
export function go(path: string): void {
  history.pushState(null, '', path)
  place.value = path
}

/** A path of steps, each encoded: IDs may contain any character. */
export const pathOf = (...parts: readonly (string | number)[]): string =>
  `/${parts.map((part) => encodeURIComponent(String(part))).join('/')}`

function decode(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

/** Name of the item that is open, for the title of the tab. */
export const itemTitle = signal<string | undefined>(undefined)

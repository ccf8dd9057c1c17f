import { computed, signal } from '@preact/signals'

/** Where the reader is: the address of the page, so that every item can be linked to and the browser's back works. */
const place = signal(location.pathname + location.search)

addEventListener('popstate', () => {
  place.value = location.pathname + location.search
})

/** The steps of the path, decoded: `['requests', '12']`. */
export const steps = computed<readonly string[]>(() =>
  (place.value.split('?', 1)[0] ?? '').split('/').filter(Boolean).map(decode),
)

const parameters = computed(() => new URLSearchParams(place.value.split('?')[1] ?? ''))

/** A filter that stands in the address. */
export const parameter = (name: string): string => parameters.value.get(name) ?? ''

/** Changes a filter. It replaces the place in the history: nobody wants to go back through every letter. */
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
  scrollTo(0, 0)
}

/** A path of steps, each encoded: ids may hold anything. */
export const pathOf = (...parts: readonly (string | number)[]): string =>
  `/${parts.map((part) => encodeURIComponent(String(part))).join('/')}`

function decode(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

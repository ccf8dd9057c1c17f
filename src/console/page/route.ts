import { computed, effect, signal } from '@preact/signals'

/** The base URL of the service. It has the page's origin, because a container may map the service's port. */
export const baseUrl = `${location.origin}/api/v1`

/** The path and query of the page. They contain the open item and the filters, for links and the back button. */
const address = signal(location.pathname + location.search)

addEventListener('popstate', () => {
  address.value = location.pathname + location.search
})

/** The path of the page, without its query. */
export const path = computed(() => address.value.split('?', 1)[0] ?? '/')

/** The segments of the path, decoded: `['requests', '12']`. The path `/` shows the overview. */
export const segments = computed<readonly string[]>(() => {
  const [first = 'overview', ...rest] = path.value.split('/').filter(Boolean).map(decode)
  return [first, ...rest]
})

/** The first segment of the path. */
export const section = computed(() => segments.value[0] as string)

/** The path of the open item; `undefined` when only a list is shown. */
export const openItem = computed(() => (segments.value.length > 1 ? path.value : undefined))

/** The path of the item that is open or was open last. */
export const latestItem = signal<string | undefined>(undefined)
effect(() => {
  if (openItem.value !== undefined) latestItem.value = openItem.value
})

const parameters = computed(() => new URLSearchParams(address.value.split('?')[1] ?? ''))

/** Returns a parameter of the address; the empty string when it is absent. */
export const parameter = (name: string): string => parameters.value.get(name) ?? ''

/** Returns the parameters of the address with these names, as a query. */
const queryOf = (names: RegExp) => {
  const kept = new URLSearchParams([...parameters.value].filter(([name]) => names.test(name)))
  return kept.size > 0 ? `?${kept}` : ''
}

/** The filters of the list. Links between a list and its items keep them. */
export const filterQuery = computed(() => queryOf(/^(?:find|show|pid)$/))

/** The filters, and the key of the item to compare with, which stays until the other item is chosen. */
export const rowQuery = computed(() => queryOf(/^(?:find|show|pid|compare)$/))

function show(to: string, isNewEntry: boolean): void {
  history[isNewEntry ? 'pushState' : 'replaceState'](null, '', to)
  address.value = to
}

/** Opens another address of the console. */
export const go = (to: string): void => show(to, true)

/** Changes the path of the open item, without a history entry. */
export const replace = (to: string): void => show(to + location.search, false)

/** Changes a parameter of the address, without a history entry for each typed letter. */
export function setParameter(name: string, value: string): void {
  const next = new URLSearchParams(parameters.value)
  if (value) next.set(name, value)
  else next.delete(name)
  show(`${location.pathname}${next.size > 0 ? `?${next}` : ''}`, false)
}

/** Returns the path with these segments, each encoded: IDs may contain any character. */
export const pathOf = (...parts: readonly (string | number)[]): string =>
  `/${parts.map((part) => encodeURIComponent(String(part))).join('/')}`

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** Name of the item that is open or was open last, for the title of the tab. */
export const itemTitle = signal('')

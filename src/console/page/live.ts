import { computed, signal } from '@preact/signals'
import {
  type Changes,
  type DeliveryRow,
  type ListChanges,
  PATHS,
  type RequestRow,
  type ServiceOverview,
} from '../protocol.ts'

/** The page polls. With a stream, each tab would keep a connection open, and browsers allow six connections per host. */
const POLL_INTERVAL_MS = 500

/** Rows of the service, newest first. */
export type LiveList<Row> = Omit<ListChanges<Row>, 'kept'>

const NO_ROWS = { rows: [], discarded: 0, cleared: 0 }

/** Whether the service responds; undefined before the first response. */
export const isConnected = signal<boolean | undefined>(undefined)
/** Whether the state of the service is known. */
export const isLoaded = signal(false)
export const requests = signal<LiveList<RequestRow>>(NO_ROWS)
export const deliveries = signal<LiveList<DeliveryRow>>(NO_ROWS)
export const service = signal<ServiceOverview>({
  operations: [],
  hasSecret: false,
  acceptsAnyToken: true,
  webhooks: [],
  faults: [],
  campaigns: [],
})
export const aheadMs = signal(0)

/** The machine's time, updated each second. */
const machineTime = signal(Date.now())
setInterval(() => {
  machineTime.value = Date.now()
}, 1000)

/** The day of the machine. The service's clock can be moved to another one. */
export const today = computed(() => new Date(machineTime.value).toDateString())

export const serviceTime = computed(() => machineTime.value + aheadMs.value)
/** The service's time of the latest response. */
export const updatedAt = signal(0)

let revision = ''
let polling: Promise<void> = Promise.resolve()
let timer: ReturnType<typeof setTimeout> | undefined

/** Polls the service now, or after the current poll. */
export function refresh(): Promise<void> {
  clearTimeout(timer)
  polling = polling.then(poll)
  return polling
}

document.addEventListener('visibilitychange', () => {
  if (!document.hidden) void refresh()
})

async function poll(): Promise<void> {
  try {
    const response = await fetch(`${PATHS.changes}?since=${revision}`)
    if (!response.ok) throw new Error(`status ${response.status}`)
    const changes = (await response.json()) as Changes
    // Parsing many rows takes long. Render them in another task, so that the page responds in between.
    await new Promise((resolve) => setTimeout(resolve))
    apply(changes)
    isConnected.value = true
    updatedAt.value = serviceTime.value
    isLoaded.value = true
  } catch {
    isConnected.value = false
  }
  clearTimeout(timer)
  // Hidden tabs do not poll.
  if (!document.hidden) timer = setTimeout(refresh, POLL_INTERVAL_MS)
}

function apply(changes: Changes): void {
  revision = changes.revision
  requests.value = merge(changes.isFull ? NO_ROWS : requests.value, changes.requests)
  deliveries.value = merge(changes.isFull ? NO_ROWS : deliveries.value, changes.deliveries)
  if (changes.state) service.value = changes.state
  if (changes.aheadMs !== aheadMs.value) {
    aheadMs.value = changes.aheadMs
    machineTime.value = Date.now()
  }
}

/** Replaces changed rows and puts new rows first. */
function merge<Row extends { readonly key: string }>(
  list: LiveList<Row>,
  { rows, kept, ...numbers }: ListChanges<Row>,
): LiveList<Row> {
  if (rows.length === 0 && numbers.cleared === list.cleared) return list
  const changed = new Map(rows.map((row) => [row.key, row]))
  const known = list.rows.map((row) => {
    const next = changed.get(row.key)
    changed.delete(row.key)
    return next ?? row
  })
  // The rows that are left are new, oldest first.
  const added = [...changed.values()].reverse()
  return { rows: [...added, ...known].slice(0, kept), ...numbers }
}

import { computed, signal } from '@preact/signals'
import type { WebhookRecord } from 'campaign-client/testing'
import {
  type CampaignView,
  type Changes,
  type DeliveryRow,
  type FaultView,
  MAX_ROWS,
  PATHS,
  type RequestRow,
  type Setup,
} from '../protocol.ts'

/** The pause between two questions. A connection held open per tab would use up the browser's six per host. */
const INTERVAL_MS = 500

/** Whether the service answers; undefined until the first answer. */
export const isConnected = signal<boolean | undefined>(undefined)
export const setup = signal<Setup | undefined>(undefined)
/** Newest first. */
export const requests = signal<readonly RequestRow[]>([])
/** Newest first. */
export const deliveries = signal<readonly DeliveryRow[]>([])
export const webhooks = signal<readonly WebhookRecord[]>([])
export const faults = signal<readonly FaultView[]>([])
export const campaigns = signal<readonly CampaignView[]>([])
export const aheadMs = signal(0)
export const discarded = signal({ requests: 0, deliveries: 0 })
export const usersRevision = signal(0)

/** The machine's time, by the second, for countdowns. */
const machineTime = signal(Date.now())
setInterval(() => {
  machineTime.value = Date.now()
}, 1000)

/** The time of the service. */
export const serviceTime = computed(() => machineTime.value + aheadMs.value)

let revision = ''
let asking: Promise<void> = Promise.resolve()
let timer: ReturnType<typeof setTimeout> | undefined

/** Asks for the changes since the last answer, one question after the other. Hidden tabs do not ask. */
export function refresh(): Promise<void> {
  clearTimeout(timer)
  asking = asking.then(ask)
  return asking
}

document.addEventListener('visibilitychange', () => {
  if (!document.hidden) void refresh()
})

async function ask(): Promise<void> {
  try {
    const response = await fetch(`${PATHS.changes}?since=${revision}`)
    if (!response.ok) throw new Error(`status ${response.status}`)
    apply((await response.json()) as Changes)
    isConnected.value = true
  } catch {
    isConnected.value = false
  }
  clearTimeout(timer)
  if (!document.hidden) timer = setTimeout(refresh, INTERVAL_MS)
}

function apply(changes: Changes): void {
  revision = changes.revision
  if (changes.setup) setup.value = changes.setup
  if (changes.isAfresh) {
    requests.value = []
    deliveries.value = []
  }
  if (changes.requests) requests.value = merge(requests.value, changes.requests)
  if (changes.deliveries) deliveries.value = merge(deliveries.value, changes.deliveries)
  if (changes.webhooks) webhooks.value = changes.webhooks
  if (changes.faults) faults.value = changes.faults
  if (changes.campaigns) campaigns.value = changes.campaigns
  discarded.value = changes.discarded
  // The two clocks are read at different moments: a difference of milliseconds is none.
  const ahead = changes.aheadMs
  if (Math.abs(ahead - aheadMs.value) > 500) {
    aheadMs.value = Math.abs(ahead) > 500 ? ahead : 0
    machineTime.value = Date.now()
  }
  if (changes.usersRevision !== undefined) usersRevision.value = changes.usersRevision
}

/** Replaces the rows that have changed, and puts new ones in front. */
function merge<Row extends { readonly key: string }>(known: readonly Row[], told: readonly Row[]): readonly Row[] {
  const changed = new Map(told.map((row) => [row.key, row]))
  const kept = known.map((row) => {
    const next = changed.get(row.key)
    changed.delete(row.key)
    return next ?? row
  })
  return [...[...changed.values()].reverse(), ...kept].slice(0, MAX_ROWS)
}

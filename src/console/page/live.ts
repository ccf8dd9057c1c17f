import { computed, signal } from '@preact/signals'
import {
  type CampaignView,
  type ClockView,
  type DeliveryRow,
  type FaultView,
  PATHS,
  type RequestRow,
  type Setup,
  type Update,
  type WebhookView,
} from '../protocol.ts'

/** How many rows the page keeps. The service remembers more. */
const MAX_ROWS = 2000

export const connected = signal(false)
export const setup = signal<Setup | undefined>(undefined)
/** Newest first. */
export const requests = signal<readonly RequestRow[]>([])
/** Newest first. */
export const deliveries = signal<readonly DeliveryRow[]>([])
export const webhooks = signal<readonly WebhookView[]>([])
export const faults = signal<readonly FaultView[]>([])
export const campaigns = signal<readonly CampaignView[]>([])
export const clock = signal<ClockView | undefined>(undefined)
export const usersRevision = signal(0)

/** The machine's time, by the second, for what counts down. */
const machineTime = signal(Date.now())
setInterval(() => {
  machineTime.value = Date.now()
}, 1000)

/** The time of the service. */
export const serviceTime = computed(() => machineTime.value + (clock.value?.aheadMs ?? 0))

/** Follows what the service does. The browser connects again by itself, and is then told everything anew. */
export function follow(): void {
  const source = new EventSource(PATHS.events)
  source.onopen = () => {
    connected.value = true
  }
  source.onerror = () => {
    connected.value = false
  }
  source.onmessage = ({ data }: MessageEvent<string>) => apply(JSON.parse(data) as Update)
}

function apply(update: Update): void {
  if (update.setup) setup.value = update.setup
  if (update.afresh) {
    requests.value = []
    deliveries.value = []
  }
  if (update.requests) requests.value = [...[...update.requests].reverse(), ...requests.value].slice(0, MAX_ROWS)
  if (update.deliveries) deliveries.value = merge(deliveries.value, update.deliveries)
  if (update.webhooks) webhooks.value = update.webhooks
  if (update.faults) faults.value = update.faults
  if (update.campaigns) campaigns.value = update.campaigns
  if (update.clock) {
    clock.value = update.clock
    machineTime.value = Date.now()
  }
  if (update.usersRevision !== undefined) usersRevision.value = update.usersRevision
}

function merge(known: readonly DeliveryRow[], told: readonly DeliveryRow[]): readonly DeliveryRow[] {
  const changed = new Map(told.map((row) => [row.key, row]))
  const kept = known.map((row) => {
    const next = changed.get(row.key)
    changed.delete(row.key)
    return next ?? row
  })
  return [...[...changed.values()].reverse(), ...kept].slice(0, MAX_ROWS)
}

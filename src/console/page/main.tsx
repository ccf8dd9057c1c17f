import { effect } from '@preact/signals'
import { type ComponentChildren, render } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { dismiss, notice, notify } from './actions.ts'
import { isConnected, isLoaded, refresh, updatedAt } from './live.ts'
import { Navigation, remembered } from './navigation.tsx'
import { Button, Link, QuestionDialog } from './parts/controls.tsx'
import { hasUnsentText } from './parts/form.tsx'
import { Help, openHelp } from './parts/list.tsx'
import { Empty, Panel } from './parts/panel.tsx'
import { clockTime, safe } from './parts/text.tsx'
import { itemTitle, latestItem, openItem, parameter, path, section, segments } from './route.ts'
import { CallMethod } from './sections/call-method.tsx'
import { Clock } from './sections/clock.tsx'
import { Compare } from './sections/compare.tsx'
import { Delivery, EditMessage } from './sections/deliveries.tsx'
import { Faults } from './sections/faults.tsx'
import { Overview, RequestsOrStart, Start } from './sections/overview.tsx'
import { Request } from './sections/requests.tsx'
import { Campaign, User, Users } from './sections/users.tsx'
import { TestWebhook, WebhookForm, Webhooks } from './sections/webhooks.tsx'

const App = () => (
  <>
    <a class="skip" href="#main">
      Skip to the content
    </a>
    <Navigation />
    <Content />
    <NoticeLine />
    <Help />
    <QuestionDialog />
  </>
)

effect(() => {
  const name = section.value.charAt(0).toUpperCase() + section.value.slice(1)
  document.title = [openItem.value && itemTitle.value, name, 'campaign-client dev'].filter(Boolean).join(' · ')
})

/** The keys of the page, which the help lists. A table handles its own keys. */
function onKey(event: KeyboardEvent): void {
  const { target, key } = event
  if (event.defaultPrevented || document.querySelector('dialog[open]')) return
  const filter = document.querySelector<HTMLElement>('.filter')
  // In the filter, Escape clears the text.
  if (key === 'Escape' && target !== filter) closeItem()
  const isTyping = target instanceof Element && target.matches('input, textarea, select')
  if (event.metaKey || event.ctrlKey || event.altKey || isTyping) return
  if (key === '?') openHelp()
  const currentRow = document.querySelector<HTMLElement>('#main tbody a[tabindex="0"]')
  const place = key === '/' ? filter : /^[jk]$/.test(key) ? currentRow : undefined
  if (!place) return
  event.preventDefault()
  place.focus()
}

function closeItem(): void {
  const form = document.querySelector<HTMLFormElement>('.pane form')
  if (form && hasUnsentText(form))
    notify('The form has text that was not sent. Press ✕ to discard it.', { isError: true })
  else document.querySelector<HTMLElement>('.close')?.click()
}

const LISTS: ReadonlyMap<string | undefined, () => ComponentChildren> = new Map([
  ['overview', Overview],
  ['start', Start],
  ['users', Users],
  ['requests', RequestsOrStart],
  ['webhooks', Webhooks],
  ['faults', Faults],
  ['clock', Clock],
])

const NotFound = () => (
  <Panel title="Not found">
    <Empty>
      There is nothing at {safe(path.value)}. <Link to="/requests" text="Back to the requests" />
    </Empty>
  </Panel>
)

/** Returns the open item that the address names. Each has a state of its own. */
function itemOf([section, first = '', second, third]: readonly string[]): ComponentChildren {
  const compared = parameter('compare')
  switch (first && section) {
    case 'users':
      return second && third ? <User pid={first} platform={second} account={third} /> : <Campaign pid={first} />
    case 'requests':
      if (first === 'call') return <CallMethod key={second} requestKey={second} />
      if (compared && compared !== first) return <Compare key={first} read="readRequest" keys={[compared, first]} />
      return <Request key={first} requestKey={first} />
    case 'webhooks':
      if (first === 'test') return <TestWebhook hookId={second} />
      if (second === undefined) return <WebhookForm key={first} hookId={first === 'new' ? undefined : first} />
      if (first === 'edit') return <WebhookForm key={second} hookId={second} />
      if (first === 'resend') return <EditMessage key={second} deliveryKey={second} />
      if (compared && compared !== second) return <Compare key={second} read="readDelivery" keys={[compared, second]} />
      return <Delivery key={second} deliveryKey={second} />
    default:
      return undefined
  }
}

/**
 * A list with the open item beside it. Each scrolls on its own. On a narrow screen the item replaces the list. When the item
 * is closed, the focus returns to its link in the list.
 */
function Content() {
  const pane = useRef<HTMLDivElement>(null)
  const shown = openItem.value
  const item = isLoaded.value ? itemOf(segments.value) : undefined
  const List = isLoaded.value ? (LISTS.get(section.value) ?? NotFound) : Skeleton
  useEffect(() => {
    if (shown === undefined) return
    if (!pane.current?.contains(document.activeElement)) pane.current?.focus({ preventScroll: true })
    return () => {
      // The focus was in the pane.
      if (openItem.value === undefined && document.activeElement === document.body) returnFocus()
    }
  }, [shown])
  return (
    <main class={item ? 'open' : undefined} style={{ '--pane': `${paneWidth.value}%` }}>
      <div class="list" id="main" tabIndex={-1}>
        <StaleBanner />
        <List />
      </div>
      {item && <Divider />}
      {item && (
        <div class="pane" ref={pane} tabIndex={-1}>
          {item}
        </div>
      )}
    </main>
  )
}

/** Focuses the link of the latest item, once the list has rendered it; the list if it no longer has the item. */
function returnFocus(tries = 10): void {
  const link = document.querySelector<HTMLElement>(`#main a[data-to="${CSS.escape(latestItem.value ?? '')}"]`)
  if (!link && tries > 0) requestAnimationFrame(() => returnFocus(tries - 1))
  else (link ?? document.getElementById('main'))?.focus({ preventScroll: true })
}

/** Shown until the state of the service is known. */
const Skeleton = () => (
  <div class="panel skeleton" role="status" aria-label="Loading">
    {Array.from({ length: 8 }, (_, index) => (
      <span key={index} />
    ))}
  </div>
)

const StaleBanner = () =>
  isConnected.value === false && (
    <p class="callout banner" role="alert">
      <strong>The service does not respond.</strong> This page shows its state of {clockTime(updatedAt.value)}. Is
      campaign-client dev still running?
    </p>
  )

/** Width of the open item in percent of the content. */
const paneWidth = remembered('pane', (text) => Number(text) || 37)

/** Limits of the width of the open item, and the steps of the keys, in percent. */
const [MIN, MAX] = [25, 70]
const KEY_STEPS: Readonly<Record<string, number>> = { ArrowLeft: 4, ArrowRight: -4 }

function setWidth(percent: number): void {
  paneWidth.value = Math.round(Math.max(MIN, Math.min(MAX, percent)))
}

/** The line between a list and the open item. Dragging it, or an arrow key, changes the width of the item. */
const Divider = () => (
  // biome-ignore lint/a11y/useSemanticElements: hr is not a control
  <div
    class="divider"
    role="separator"
    tabIndex={0}
    aria-label="Width of the open item"
    aria-orientation="vertical"
    aria-valuenow={paneWidth.value}
    aria-valuemin={MIN}
    aria-valuemax={MAX}
    onPointerDown={({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId)}
    onPointerMove={({ currentTarget, pointerId, clientX }) => {
      if (!currentTarget.hasPointerCapture(pointerId) || !currentTarget.parentElement) return
      const { right, width } = currentTarget.parentElement.getBoundingClientRect()
      setWidth((100 * (right - clientX)) / width)
    }}
    onKeyDown={(event) => {
      const step = KEY_STEPS[event.key]
      if (step === undefined) return
      event.preventDefault()
      setWidth(paneWidth.value + step)
    }}
  />
)

/** The notice is below the content, so that it covers no control. */
function NoticeLine() {
  const { text, isError, next } = notice.value ?? {}
  return (
    <div class="notices" aria-live="polite">
      {text !== undefined && (
        <p class={isError ? 'flow spread notice error' : 'flow spread notice'}>
          <span>
            {safe(text)} {next}
          </span>
          <Button text="✕" class="quiet" aria-label="Dismiss the message" onClick={dismiss} />
        </p>
      )}
    </div>
  )
}

addEventListener('keydown', onKey)
void refresh()
// A task of its own, so that evaluating the script and the first layout are not one long task.
setTimeout(() => render(<App />, document.getElementById('root') as HTMLElement))

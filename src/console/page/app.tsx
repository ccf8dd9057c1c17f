import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { dismiss, notice, notify } from './actions.ts'
import { isConnected, isLoaded, serviceTime } from './live.ts'
import { Navigation } from './navigation.tsx'
import { Divider, paneWidth } from './parts/divider.tsx'
import { hasUnsentText } from './parts/form.tsx'
import { Help, openHelp } from './parts/help.tsx'
import { Link } from './parts/link.tsx'
import { Empty, Panel } from './parts/panel.tsx'
import { clockTime, Text } from './parts/text.tsx'
import { itemTitle, latestItem, openItem, parameter, path, segments } from './route.ts'
import { CallMethod, RepeatCall } from './sections/call-method.tsx'
import { Campaign } from './sections/campaign.tsx'
import { Clock } from './sections/clock.tsx'
import { CompareDeliveries, CompareRequests } from './sections/compare.tsx'
import { Faults } from './sections/faults.tsx'
import { hasTraffic, Overview } from './sections/overview.tsx'
import { Request } from './sections/request.tsx'
import { Requests } from './sections/requests.tsx'
import { hasCalls, Start } from './sections/start.tsx'
import { User } from './sections/user.tsx'
import { Users } from './sections/users.tsx'
import { Delivery } from './sections/webhooks/delivery.tsx'
import { EditMessage } from './sections/webhooks/edit-message.tsx'
import { TestWebhook } from './sections/webhooks/test-webhook.tsx'
import { WebhookForm } from './sections/webhooks/webhook-form.tsx'
import { WebhooksPage } from './sections/webhooks/webhooks.tsx'

export function App() {
  const [section = ''] = segments.value
  useEffect(() => {
    const name = `${section.charAt(0).toUpperCase()}${section.slice(1)}`
    document.title = [itemTitle.value, name, 'campaign-client dev'].filter(Boolean).join(' · ')
  }, [section, itemTitle.value])
  useEffect(() => {
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Navigation />
      <Section />
      <NoticeLine />
      <Help />
    </>
  )
}

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
  const place = key === '/' ? filter : /^[jk]$/.test(key) ? document.querySelector<HTMLElement>(TAB_STOP) : undefined
  if (!place) return
  event.preventDefault()
  place.focus()
}

/** The current row of the first table. */
const TAB_STOP = '#main tbody a[tabindex="0"]'

function closeItem(): void {
  const form = document.querySelector<HTMLFormElement>('.pane form')
  if (form && hasUnsentText(form))
    notify('The form has text that was not sent. Press ✕ to discard it.', { isError: true })
  else document.querySelector<HTMLElement>('.close')?.click()
}

function StaleBanner() {
  const lostAt = useRef<number>(undefined)
  if (isConnected.value !== false) {
    lostAt.current = undefined
    return null
  }
  lostAt.current ??= serviceTime.value
  return (
    <p class="banner" role="alert">
      <strong>The service does not respond.</strong> This page shows its state of {clockTime(lostAt.current)}. Is
      campaign-client dev still running?
    </p>
  )
}

/** The section that the address names. */
function Section() {
  const [section, first, second, third] = segments.value
  if (!isLoaded.value) return <ListAndItem list={<Skeleton />} />
  switch (section) {
    case 'overview':
      return <ListAndItem list={hasTraffic.value ? <Overview /> : <FirstLook />} />
    case 'start':
      return <ListAndItem list={<Start />} />
    case 'users': {
      const user = first && second && third && <User pid={first} platform={second} account={third} />
      return <ListAndItem list={<Users />} item={user || (first && <Campaign pid={first} />)} />
    }
    case 'requests':
      return (
        <ListAndItem
          list={hasCalls.value ? <Requests /> : <FirstLook />}
          item={first === 'call' ? <CallItem from={second} /> : first && <RequestItem id={first} />}
        />
      )
    case 'webhooks':
      return <ListAndItem list={<WebhooksPage />} item={first && <WebhookItem kind={first} id={second} />} />
    case 'faults':
      return <ListAndItem list={<Faults />} />
    case 'clock':
      return <ListAndItem list={<Clock />} />
    default:
      return (
        <ListAndItem
          list={
            <Panel title="Not found">
              <Empty>
                There is nothing at <Text>{path.value}</Text>. <Link to="/requests">Back to the requests</Link>
              </Empty>
            </Panel>
          }
        />
      )
  }
}

/** Shown until the state of the service is known. */
const Skeleton = () => (
  <div class="panel skeleton" role="status" aria-label="Loading">
    {Array.from({ length: 8 }, (_, index) => (
      <span key={index} />
    ))}
  </div>
)

const FirstLook = () => (
  <>
    <Start />
    <Requests />
  </>
)

const CallItem = ({ from }: { from: string | undefined }) =>
  from === undefined ? <CallMethod /> : <RepeatCall key={from} requestKey={from} />

function RequestItem({ id }: { id: string }) {
  const compared = parameter('compare')
  if (compared && compared !== id) return <CompareRequests key={id} keys={[compared, id]} />
  return <Request key={id} requestKey={id} />
}

function WebhookItem({ kind, id }: { kind: string; id: string | undefined }) {
  const compared = parameter('compare')
  if (kind === 'deliveries' && id !== undefined) {
    return compared && compared !== id ? (
      <CompareDeliveries key={id} keys={[compared, id]} />
    ) : (
      <Delivery key={id} deliveryKey={id} />
    )
  }
  if (kind === 'test') return <TestWebhook hookId={id} />
  if (kind === 'resend' && id !== undefined) return <EditMessage key={id} deliveryKey={id} />
  const hookId = kind === 'edit' ? id : kind === 'new' ? undefined : kind
  return <WebhookForm key={hookId ?? 'new'} hookId={hookId} />
}

/**
 * A list with the open item beside it. Each scrolls on its own. On a narrow screen the item replaces the list. When the item
 * is closed, the focus returns to its link in the list.
 */
function ListAndItem({ list, item }: { list: ComponentChildren; item?: ComponentChildren }) {
  const pane = useRef<HTMLDivElement>(null)
  const shown = openItem.value
  const wasOpen = useRef(false)
  useEffect(() => {
    if (shown === undefined) {
      // The focus was in the pane.
      if (wasOpen.current && document.activeElement === document.body) returnFocus()
    } else if (!pane.current?.contains(document.activeElement)) pane.current?.focus({ preventScroll: true })
    wasOpen.current = shown !== undefined
  }, [shown])
  return (
    <main class={item ? 'open' : undefined} style={{ '--pane': `${paneWidth.value}%` }}>
      <div class="list" id="main" tabIndex={-1}>
        <StaleBanner />
        {list}
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

/** The notice is below the content, so that it covers no control. */
function NoticeLine() {
  const { text, isError, next } = notice.value ?? {}
  return (
    <div class="notices" aria-live="polite">
      {text !== undefined && (
        <p class={isError ? 'notice error' : 'notice'}>
          <span>
            <Text>{text}</Text>
            {next && ' '}
            {next && 'to' in next && <Link to={next.to}>{next.label}</Link>}
            {next && 'onClick' in next && (
              <button type="button" class="quiet" onClick={next.onClick}>
                {next.label}
              </button>
            )}
          </span>
          <button type="button" class="quiet" aria-label="Dismiss the message" onClick={dismiss}>
            ✕
          </button>
        </p>
      )}
    </div>
  )
}

import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { dismiss, notice } from './actions.ts'
import { isConnected, requests, serviceTime } from './live.ts'
import { Navigation } from './navigation.tsx'
import { Link } from './parts/link.tsx'
import { clockTime, Text } from './parts/text.tsx'
import { itemTitle, segments } from './route.ts'
import { Campaign } from './sections/campaign.tsx'
import { Clock } from './sections/clock.tsx'
import { Faults } from './sections/faults.tsx'
import { Request } from './sections/request.tsx'
import { Requests } from './sections/requests.tsx'
import { Start } from './sections/start.tsx'
import { User } from './sections/user.tsx'
import { Users } from './sections/users.tsx'
import { Delivery } from './sections/webhooks/delivery.tsx'
import { TestWebhook } from './sections/webhooks/test-webhook.tsx'
import { WebhookForm } from './sections/webhooks/webhook-form.tsx'
import { Webhooks, WebhooksPage } from './sections/webhooks/webhooks.tsx'

export function App() {
  const [section = 'overview'] = segments.value
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
      <main id="main" tabIndex={-1}>
        <StaleBanner />
        <Section />
      </main>
      <NoticeLine />
    </>
  )
}

/** The key `/` focuses the filter, unless the user is typing. Escape closes the open item. */
function onKey(event: KeyboardEvent): void {
  const isTyping = event.target instanceof Element && event.target.matches('input, textarea, select')
  if (event.key === 'Escape' && !document.querySelector('dialog[open]')) {
    document.querySelector<HTMLElement>('.close')?.click()
  }
  const filter = document.querySelector<HTMLElement>('.filter')
  if (event.key !== '/' || event.metaKey || event.ctrlKey || isTyping || !filter) return
  event.preventDefault()
  filter.focus()
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
      <strong>The service does not answer.</strong> This page shows its state of {clockTime(lostAt.current)}. Is
      campaign-client dev still running?
    </p>
  )
}

/** The section that the address names. */
function Section() {
  const [section, first, second, third] = segments.value
  switch (section) {
    case undefined:
      return <Overview />
    case 'start':
      return <Start />
    case 'users': {
      const user = first && second && third && <User pid={first} platform={second} account={third} />
      return <ListAndItem list={<Users />} item={user || (first && <Campaign pid={first} />)} />
    }
    case 'requests':
      return <ListAndItem list={<Requests />} item={first && <Request key={first} requestKey={first} />} />
    case 'webhooks': {
      const delivery = second && <Delivery key={second} deliveryKey={second} />
      return (
        <ListAndItem list={<WebhooksPage />} item={delivery || (first && <WebhookForm key={first} hookId={first} />)} />
      )
    }
    case 'faults':
      return <Faults />
    case 'clock':
      return <Clock />
    default:
      return (
        <p class="empty">
          There is nothing at <Text>{`/${segments.value.join('/')}`}</Text>. <Link to="/">Back to the overview</Link>
        </p>
      )
  }
}

function Overview() {
  return (
    <>
      {requests.value.rows.length === 0 && <Start />}
      <div class="grid">
        <div class="column">
          <Requests brief />
          <Webhooks brief />
        </div>
        <div class="column">
          <Users brief />
          <TestWebhook />
          <Faults brief />
          <Clock brief />
        </div>
      </div>
    </>
  )
}

/** A list with the open item beside it. On a narrow screen the item replaces the list. */
function ListAndItem({ list, item }: { list: ComponentChildren; item: ComponentChildren }) {
  const pane = useRef<HTMLDivElement>(null)
  const path = segments.value.join('/')
  useEffect(() => pane.current?.focus({ preventScroll: true }), [path])
  return (
    <div class={item ? 'pair open' : 'pair'}>
      <div class="list">{list}</div>
      {item && (
        <div class="pane" ref={pane} tabIndex={-1}>
          {item}
        </div>
      )}
    </div>
  )
}

/** The notice is below the content, so that it covers no control. */
function NoticeLine() {
  return (
    <div class="notices" aria-live="polite">
      {notice.value && (
        <p class={notice.value.isError ? 'notice error' : 'notice'}>
          <Text>{notice.value.text}</Text>
          <button type="button" class="quiet" aria-label="Dismiss the message" onClick={dismiss}>
            ✕
          </button>
        </p>
      )}
    </div>
  )
}

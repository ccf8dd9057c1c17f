import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { dismiss, notice } from './actions.ts'
import { isConnected, requests, serviceTime } from './live.ts'
import { Navigation } from './navigation.tsx'
import { Link } from './parts/link.tsx'
import { clockTime, Text } from './parts/text.tsx'
import { go, itemTitle, pathOf, steps } from './route.ts'
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
  const path = steps.value.join('/')
  useEffect(() => {
    const [section = ''] = steps.value
    const name = section === '' ? 'Overview' : `${section.charAt(0).toUpperCase()}${section.slice(1)}`
    document.title = [itemTitle.value, name, 'campaign-client dev'].filter(Boolean).join(' · ')
  }, [path, itemTitle.value])
  useEffect(() => {
    addEventListener('keydown', goToFilter)
    return () => removeEventListener('keydown', goToFilter)
  }, [])
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Navigation />
      <main id="main" tabIndex={-1}>
        <StaleBanner />
        <Place />
      </main>
      <NoticeLine />
    </>
  )
}

/** The key `/` leads to the filter, unless the user is typing. */
function goToFilter(event: KeyboardEvent): void {
  const isTyping = event.target instanceof Element && event.target.matches('input, textarea, select')
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

/** The place that the address names. */
function Place() {
  const [section = '', first, second, third] = steps.value
  switch (section) {
    case '':
      return <Overview />
    case 'start':
      return <Start />
    case 'users': {
      const isItem = first !== undefined && second !== undefined && third !== undefined
      return (
        <Pair
          list={<Users current={isItem ? pathOf('users', first, second, third) : undefined} />}
          item={isItem && <User pid={first} platform={second} account={third} />}
        />
      )
    }
    case 'campaigns':
      return <Pair list={<Users />} item={first !== undefined && <Campaign pid={first} />} />
    case 'requests':
      return (
        <Pair
          list={<Requests current={first} />}
          item={first !== undefined && <Request key={first} requestKey={first} />}
        />
      )
    case 'webhooks':
      return (
        <Pair
          list={<WebhooksPage current={first} />}
          item={first !== undefined && <WebhookForm hookId={first === 'new' ? undefined : first} key={first} />}
        />
      )
    case 'deliveries':
      return (
        <Pair
          list={<WebhooksPage current={first} />}
          item={first !== undefined && <Delivery key={first} deliveryKey={first} />}
        />
      )
    case 'faults':
      return <Faults />
    case 'clock':
      return <Clock />
    default:
      return (
        <p class="empty">
          There is nothing at <Text>{`/${steps.value.join('/')}`}</Text>. <Link to="/">Back to the overview</Link>
        </p>
      )
  }
}

function Overview() {
  return (
    <>
      {requests.value.length === 0 && <Start />}
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

/** A list, and beside it the item that is open. On a phone the item takes its place. */
function Pair({ list, item }: { list: ComponentChildren; item: ComponentChildren | false }) {
  const pane = useRef<HTMLDivElement>(null)
  const isOpen = item !== false
  const address = steps.value.join('/')
  useEffect(() => {
    if (isOpen) pane.current?.focus({ preventScroll: true })
  }, [address, isOpen])
  useEffect(() => {
    if (!isOpen) return undefined
    const close = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || document.querySelector('dialog[open]')) return
      const [section] = steps.value
      go(section === 'deliveries' ? '/webhooks' : section === 'campaigns' ? '/users' : `/${section}`)
    }
    addEventListener('keydown', close)
    return () => removeEventListener('keydown', close)
  }, [isOpen])
  return (
    <div class={isOpen ? 'pair open' : 'pair'}>
      <div class="list">{list}</div>
      {isOpen && (
        <div class="pane" ref={pane} tabIndex={-1}>
          {item}
        </div>
      )}
    </div>
  )
}

/** Stands below the content, so that it covers no control. */
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

import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { PATHS } from '../protocol.ts'
import { notice } from './actions.ts'
import { baseUrl } from './base-url.ts'
import { connected, deliveries, faults, requests } from './live.ts'
import { CopyButton } from './parts/copy-button.tsx'
import { Link } from './parts/link.tsx'
import { Text } from './parts/text.tsx'
import { go, pathOf, steps } from './route.ts'
import { Campaign } from './sections/campaign.tsx'
import { Clock } from './sections/clock.tsx'
import { Delivery } from './sections/delivery.tsx'
import { EmitEvent } from './sections/emit-event.tsx'
import { Faults } from './sections/faults.tsx'
import { Request } from './sections/request.tsx'
import { Requests } from './sections/requests.tsx'
import { Start } from './sections/start.tsx'
import { State } from './sections/state.tsx'
import { TestWebhook } from './sections/test-webhook.tsx'
import { User } from './sections/user.tsx'
import { Users } from './sections/users.tsx'
import { WebhookForm } from './sections/webhook-form.tsx'
import { Webhooks } from './sections/webhooks.tsx'
import { setTheme, type Theme, theme } from './theme.ts'

export function App() {
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Side />
      <main id="main" tabIndex={-1}>
        <Place />
      </main>
      <NoticeLine />
    </>
  )
}

function Side() {
  const nav = useRef<HTMLElement>(null)
  const [section] = steps.value
  // Whether there are counts: they make the line longer.
  const isCounted = requests.value.length + deliveries.value.length > 0
  // On a phone the sections stand in a line that is wider than the screen.
  useEffect(() => {
    nav.current?.querySelector('.within')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [section, isCounted])
  return (
    <header class="side">
      <div class="brand">
        <h1>
          <Link to="/">
            <img src={PATHS.icon} alt="" width={22} height={22} />
            campaign-client dev
          </Link>
        </h1>
      </div>
      <nav aria-label="Console" ref={nav}>
        <NavLink to="/">Overview</NavLink>
        <NavLink to="/users" also="campaigns">
          Users
        </NavLink>
        <NavLink to="/requests" count={requests.value.length}>
          Requests
        </NavLink>
        <NavLink to="/webhooks" also="deliveries" count={deliveries.value.length}>
          Webhooks
        </NavLink>
        <NavLink to="/faults" count={faults.value.length}>
          Faults
        </NavLink>
        <NavLink to="/clock">Clock</NavLink>
        <NavLink to="/start">Start</NavLink>
      </nav>
      <div class="side-end">
        <div class="address">
          <span class={connected.value ? 'live on' : 'live'} role="status">
            {connected.value ? 'Live' : 'Connecting'}
          </span>
          <CopyButton text={baseUrl} label="Copy base URL" />
          <code>{baseUrl.replace(/^https?:\/\//, '')}</code>
        </div>
        <State />
        <select
          class="theme"
          aria-label="Theme"
          value={theme.value}
          onChange={({ currentTarget }) => setTheme(currentTarget.value as Theme)}
        >
          <option value="system">System theme</option>
          <option value="light">Light theme</option>
          <option value="dark">Dark theme</option>
        </select>
      </div>
    </header>
  )
}

interface NavLinkProps {
  readonly to: string
  /** The first step of other addresses that belong there, too. */
  readonly also?: string
  readonly count?: number
  readonly children: ComponentChildren
}

function NavLink({ to, also, count = 0, children }: NavLinkProps) {
  const [section = ''] = steps.value
  return (
    <Link to={to} class={section === to.slice(1) || section === also ? 'within' : undefined}>
      {children}
      {count > 0 && <span class="count">{count}</span>}
    </Link>
  )
}

/** What the address names. */
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
          list={<Requests current={Number(first)} />}
          item={first !== undefined && <Request key={first} number={Number(first)} />}
        />
      )
    case 'webhooks':
      return (
        <Pair
          list={
            <>
              <Webhooks current={first} />
              <TestWebhook />
              <EmitEvent />
            </>
          }
          item={first !== undefined && <WebhookForm hookId={first === 'new' ? undefined : first} key={first} />}
        />
      )
    case 'deliveries':
      return <Pair list={<Webhooks />} item={first !== undefined && <Delivery key={first} id={first} />} />
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
          <Faults />
          <Clock />
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

function NoticeLine() {
  return (
    <div class="notices" aria-live="polite">
      {notice.value && (
        <p class={notice.value.isError ? 'notice error' : 'notice'}>
          <Text>{notice.value.text}</Text>
        </p>
      )}
    </div>
  )
}

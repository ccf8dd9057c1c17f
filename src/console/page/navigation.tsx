import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { PATHS } from '../protocol.ts'
import { campaigns, faults, isConnected, requests, webhooks } from './live.ts'
import { CopyButton } from './parts/copy-button.tsx'
import { Link } from './parts/link.tsx'
import { amount, Hidden } from './parts/text.tsx'
import { baseUrl, steps } from './route.ts'
import { State } from './sections/state.tsx'
import { setTheme, type Theme, theme } from './theme.ts'

/** The sections, the address of the service, and the actions that concern all of it. */
export function Navigation() {
  // On a phone the actions are behind a button.
  const [isOpen, setOpen] = useState(false)
  const address = steps.value.join('/')
  useEffect(() => setOpen(false), [address])
  const users = campaigns.value.reduce((sum, campaign) => sum + campaign.users, 0)
  return (
    <header class={isOpen ? 'side open' : 'side'}>
      <h1 class="brand">
        <Link to="/">
          <img src={PATHS.icon} alt="" width={22} height={22} />
          campaign-client dev
        </Link>
      </h1>
      <span class={isConnected.value ? 'live on' : 'live'} role="status">
        {isConnected.value === undefined ? 'Connecting' : isConnected.value ? 'Live' : 'No answer'}
      </span>
      <button type="button" class="menu small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Menu
      </button>
      <nav aria-label="Console">
        <NavLink to="/">Overview</NavLink>
        <NavLink to="/users" also="campaigns" count={users}>
          Users
        </NavLink>
        <NavLink to="/requests" count={requests.value.length}>
          Requests
        </NavLink>
        <NavLink to="/webhooks" also="deliveries" count={webhooks.value.length}>
          Webhooks
        </NavLink>
        <NavLink to="/faults" count={faults.value.length} warns>
          Faults
        </NavLink>
        <NavLink to="/clock">Clock</NavLink>
        <NavLink to="/start">Start</NavLink>
      </nav>
      <div class="side-end">
        <div class="address">
          <span class="muted">Base URL</span>
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
  /** The first step of other paths that belong to the section, too. */
  readonly also?: string
  readonly count?: number
  /** Whether a count is a warning. */
  readonly warns?: boolean
  readonly children: ComponentChildren
}

function NavLink({ to, also, count = 0, warns = false, children }: NavLinkProps) {
  const [section = ''] = steps.value
  return (
    <Link to={to} class={section === to.slice(1) || section === also ? 'within' : undefined}>
      {children}
      {count > 0 && (
        <span class={warns ? 'count badge warn' : 'count'}>
          {amount(count)}
          {warns && <Hidden> switched on</Hidden>}
        </span>
      )}
    </Link>
  )
}

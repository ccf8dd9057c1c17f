import { useEffect, useState } from 'preact/hooks'
import { PATHS } from '../protocol.ts'
import { isConnected, requests, service } from './live.ts'
import { CopyButton } from './parts/copy-button.tsx'
import { Link } from './parts/link.tsx'
import { amount, Hidden } from './parts/text.tsx'
import { baseUrl, segments } from './route.ts'
import { State } from './sections/state.tsx'

/** Links to the sections, the base URL of the service, and actions on the whole service. */
export function Navigation() {
  // On a phone the actions are behind a button.
  const [isOpen, setOpen] = useState(false)
  const path = segments.value.join('/')
  useEffect(() => setOpen(false), [path])
  const { campaigns, webhooks, faults } = service.value
  return (
    <header class={isOpen ? 'side open' : 'side'}>
      <h1 class="brand">
        <Link to="/">
          <img src={PATHS.icon} alt="" width={22} height={22} />
          campaign-client dev
        </Link>
      </h1>
      <span class={isConnected.value ? 'live on' : 'live'} role="status">
        {isConnected.value === undefined ? 'Connecting' : isConnected.value ? 'Live' : 'No response'}
      </span>
      <button type="button" class="menu small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Menu
      </button>
      <nav aria-label="Console">
        <NavLink to="/requests" name="Requests" count={requests.value.rows.length} />
        <NavLink to="/users" name="Users" count={campaigns.reduce((sum, { users }) => sum + users, 0)} />
        <NavLink to="/webhooks" name="Webhooks" count={webhooks.length} />
        <NavLink to="/faults" name="Faults" count={faults.length} isWarning />
        <NavLink to="/clock" name="Clock" />
        <NavLink to="/start" name="Start" />
      </nav>
      <div class="side-end">
        <div class="address">
          <span class="muted">Base URL</span>
          <CopyButton text={baseUrl} label="Copy base URL" />
          <code>{baseUrl.replace(/^https?:\/\//, '')}</code>
        </div>
        <State />
      </div>
    </header>
  )
}

interface NavLinkProps {
  readonly to: string
  readonly name: string
  readonly count?: number
  readonly isWarning?: boolean
}

function NavLink({ to, name, count = 0, isWarning = false }: NavLinkProps) {
  const [section = ''] = segments.value
  return (
    <Link to={to} class={section === to.slice(1) ? 'within' : undefined}>
      {name}
      {count > 0 && (
        <span class={isWarning ? 'count badge warn' : 'count'}>
          {amount(count)}
          {isWarning && <Hidden> switched on</Hidden>}
        </span>
      )}
    </Link>
  )
}

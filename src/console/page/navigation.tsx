import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { PATHS } from '../protocol.ts'
import { aheadMs, deliveries, isConnected, requests, service } from './live.ts'
import { CopyButton } from './parts/copy-button.tsx'
import { Link } from './parts/link.tsx'
import { amount, count, duration, Hidden } from './parts/text.tsx'
import { baseUrl, segments } from './route.ts'
import { callPath } from './sections/call-method.tsx'
import { hasFailed as isFailedCall } from './sections/requests.tsx'
import { State } from './sections/state.tsx'
import { hasFailed as isFailedDelivery } from './sections/webhooks/deliveries.tsx'
import { ThemeSwitch } from './theme.tsx'

/** Links to the sections, the base URL of the service, and actions on the whole service. */
export function Navigation() {
  // On a phone the actions are behind a button.
  const [isOpen, setOpen] = useState(false)
  const path = segments.value.join('/')
  useEffect(() => setOpen(false), [path])
  const { campaigns, faults } = service.value
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
        <NavLink to="/overview" name="Overview" />
        <NavLink to="/requests" name="Requests" count={requests.value.rows.length}>
          <Failures
            to="/requests?find=is:failed"
            noun="call"
            number={requests.value.rows.filter(isFailedCall).length}
          />
        </NavLink>
        <NavLink to="/users" name="Users" count={campaigns.reduce((sum, { users }) => sum + users, 0)} />
        <NavLink to="/webhooks" name="Webhooks">
          <Failures
            to="/webhooks?show=failed"
            noun="delivery"
            number={deliveries.value.rows.filter(isFailedDelivery).length}
          />
        </NavLink>
        <NavLink to="/faults" name="Faults" count={faults.length} isWarning />
        <NavLink to="/clock" name="Clock">
          {aheadMs.value !== 0 && (
            <Link to="/clock" class="badge warn" label={`The clock is ${duration(aheadMs.value)} ahead`}>
              +{duration(aheadMs.value)}
            </Link>
          )}
        </NavLink>
        <NavLink to={callPath()} name="Try a call" />
      </nav>
      <div class="side-end">
        <div class="address">
          <span class="muted">Base URL</span>
          <CopyButton text={baseUrl} label="Copy base URL" />
          <code>{baseUrl.replace(/^https?:\/\//, '')}</code>
        </div>
        <ThemeSwitch />
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
  /** Stands beside the link. */
  readonly children?: ComponentChildren
}

/** The number of failures, with a link to them. */
const Failures = ({ to, noun, number }: { to: string; noun: string; number: number }) =>
  number === 0 ? null : (
    <Link to={to} class="badge bad" label={`${count(number, `failed ${noun}`)}`}>
      {amount(number)}
    </Link>
  )

function NavLink({ to, name, count = 0, isWarning = false, children }: NavLinkProps) {
  const [section = ''] = segments.value
  return (
    <div class={section === to.slice(1) ? 'nav-line within' : 'nav-line'}>
      <Link to={to}>
        {name}
        {count > 0 && (
          <span class={isWarning ? 'count badge warn' : 'count'}>
            {amount(count)}
            {isWarning && <Hidden> switched on</Hidden>}
          </span>
        )}
      </Link>
      {children}
    </div>
  )
}

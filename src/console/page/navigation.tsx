import { effect, signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { tryParseJson } from '../../shared/text.ts'
import { type ActionResult, PATHS } from '../protocol.ts'
import { perform, run } from './actions.ts'
import { aheadMs, deliveries, isConnected, requests, service } from './live.ts'
import { ask, Button, CopyButton, Link } from './parts/controls.tsx'
import { amount, count, duration, safe } from './parts/text.tsx'
import { baseUrl, path, section } from './route.ts'
import { callPath } from './sections/call-method.tsx'
import { hasFailed as isFailedDelivery } from './sections/deliveries.tsx'
import { hasFailed as isFailedCall } from './sections/requests.tsx'

/** Links to the sections, the base URL of the service, and actions on the whole service. */
export function Navigation() {
  // On a phone the actions are behind a button.
  const [isOpen, setOpen] = useState(false)
  useEffect(() => setOpen(false), [path.value])
  const { campaigns, faults } = service.value
  const calls = requests.value.rows.filter(isFailedCall).length
  const failedCalls = markOf(calls, 'bad', '/requests?find=is:failed', count(calls, 'failed call'))
  const messages = deliveries.value.rows.filter(isFailedDelivery).length
  const failedDeliveries = markOf(messages, 'bad', '/webhooks?show=failed', count(messages, 'failed delivery'))
  const injectedFaults = markOf(faults.length, 'warn', '/faults', count(faults.length, 'injected fault'))
  const time = duration(aheadMs.value)
  const ahead = markOf(aheadMs.value, 'warn', '/clock', `The clock is ${time} ahead`, `+${time}`)
  return (
    <header class={isOpen ? 'side open' : 'side'}>
      <h1 class="flow brand">
        <img src={PATHS.icon} alt="" width={22} height={22} />
        <Link to="/" text="campaign-client dev" />
      </h1>
      <span class={isConnected.value ? 'hint live on' : 'hint live'} role="status">
        {isConnected.value === undefined ? 'Connecting' : isConnected.value ? 'Live' : 'No response'}
      </span>
      <Button text="Menu" class="menu small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} />
      <nav aria-label="Console">
        <NavLink to="/overview" name="Overview" />
        <NavLink to="/requests" name="Requests" count={requests.value.rows.length} mark={failedCalls} />
        <NavLink to="/users" name="Users" count={campaigns.reduce((sum, { users }) => sum + users, 0)} />
        <NavLink to="/webhooks" name="Webhooks" mark={failedDeliveries} />
        <NavLink to="/faults" name="Faults" mark={injectedFaults} />
        <NavLink to="/clock" name="Clock" mark={ahead} />
        <NavLink to={callPath()} name="Try a call" />
      </nav>
      <div class="side-end">
        <div class="flow spread">
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

/** Returns a link to what needs attention in a section; nothing for 0. The label is its name for screen readers. */
const markOf = (value: number, tone: 'bad' | 'warn', to: string, label: string, text = amount(value)) =>
  value !== 0 && <Link to={to} class={`badge ${tone}`} label={label} text={text} />

interface NavLinkProps {
  readonly to: string
  readonly name: string
  readonly count?: number
  readonly mark?: ComponentChildren
}

const NavLink = ({ to, name, count = 0, mark }: NavLinkProps) => (
  <div class={section.value === to.slice(1) ? 'nav-line within' : 'nav-line'}>
    <Link to={to} endsFilters text={[`${name} `, count > 0 && <span class="count">{amount(count)}</span>]} />
    {mark}
  </div>
)

/** Chooses between the colours of the system, light and dark ones. */
const ThemeSwitch = () => (
  <label class="flow spread">
    Theme
    <select value={theme.value} onChange={({ currentTarget }) => (theme.value = themeOf(currentTarget.value))}>
      {THEMES.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  </label>
)

/** Saves the state of the service to a file, loads a file, or resets the service. */
function State() {
  const input = useRef<HTMLInputElement>(null)
  const reset = () =>
    ask({
      title: 'Reset the service?',
      consequences:
        'This removes progress, awards, requests, deliveries, faults, and the webhooks and secrets that you entered. ' +
        'The service is again as dev started it. The clock goes back to now.',
      yes: 'Reset everything',
      no: 'Cancel',
      onConfirm: () => run(() => perform('reset', {}), 'The service was reset.'),
    })
  return (
    <div class="flow state-actions">
      <a class="button small" href={PATHS.seed} download="campaign-seed.json">
        Save seed
      </a>
      <Button text="Load seed" class="small" onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        accept=".json,application/json"
        hidden
        onChange={({ currentTarget }) => askToLoad(currentTarget)}
        aria-label="Seed file"
      />
      <Button text="Reset" class="small" onClick={reset} />
    </div>
  )
}

function askToLoad(input: HTMLInputElement): void {
  const [file] = input.files ?? []
  // Without this, choosing the same file again fires no event.
  input.value = ''
  if (!file) return
  const load = async () => {
    const seed = tryParseJson(await file.text())
    if (seed === undefined) throw new Error('The file is not JSON.')
    return perform('loadSeed', { seed })
  }
  const done = ({ unsigned }: ActionResult<'loadSeed'>) => {
    const missing = unsigned.length > 0 ? ` Enter the secret of ${unsigned.join(', ')} to sign its messages.` : ''
    return { text: `${file.name} was loaded.${missing}` }
  }
  ask({
    title: 'Load this seed?',
    consequences: [
      safe(file.name),
      ' replaces campaigns, users, awards and webhooks. Requests, deliveries and faults are removed, and the clock goes ' +
        'back to now. A webhook keeps its secret only if the seed has a webhook with the same ID.',
    ],
    yes: 'Load it',
    no: 'Cancel',
    onConfirm: () => run(load, done),
  })
}

/** A choice that the browser remembers. A browser may deny the storage: the choice then ends with the page. */
export function remembered<Value extends string | number>(key: string, read: (text: string | null) => Value) {
  let text: string | null = null
  try {
    text = localStorage.getItem(key)
  } catch {}
  const choice = signal(read(text))
  effect(() => {
    try {
      localStorage.setItem(key, String(choice.value))
    } catch {}
  })
  return choice
}

const THEMES = ['system', 'light', 'dark'] as const

const themeOf = (text: string | null) => THEMES.find((each) => each === text) ?? 'system'

const theme = remembered('theme', themeOf)
effect(() => document.documentElement.style.setProperty('color-scheme', theme.value === 'system' ? null : theme.value))

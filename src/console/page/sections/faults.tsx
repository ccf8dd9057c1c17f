import type { FaultKind } from 'campaign-client/testing'
import { useState } from 'preact/hooks'
import { attempt, perform } from '../actions.ts'
import { faults, setup } from '../live.ts'
import { Badge } from '../parts/badge.tsx'
import { SelectField, TextField } from '../parts/field.tsx'
import { Empty, Panel } from '../parts/panel.tsx'

/** What each kind does, in the words of one who will meet it. */
const KINDS: Readonly<Record<FaultKind, string>> = {
  status: 'answers with an error',
  reset: 'loses the connection',
  applied_then_reset: 'does it, then loses the connection',
  hang: 'never answers',
  garbage: 'answers with HTML',
  truncate: 'breaks off in the middle',
  stall: 'stops in the middle',
  drip: 'answers byte by byte',
  delay: 'answers late',
  misshapen: 'answers with another shape',
}

export function Faults() {
  return (
    <Panel title="Faults">
      {faults.value.length === 0 ? (
        <Empty>None is switched on: the service answers as it should.</Empty>
      ) : (
        <ul class="rows">
          {faults.value.map(({ key, kind, on, remaining, status, delayMs }) => (
            <li class="row" key={key}>
              <Badge tone="busy">{remaining === null ? '∞' : `${remaining} left`}</Badge>
              <span class="grow">
                <strong>{on === '*' ? 'Any request' : on}</strong> {KINDS[kind]}
                {status !== undefined && `: ${status}`}
                {delayMs !== undefined && `: ${delayMs} ms`}
              </span>
              <button
                type="button"
                class="small"
                aria-label={`Cancel ${kind} on ${on}`}
                onClick={() => attempt(() => perform('cancelFault', { key }), 'The fault is switched off.')}
              >
                Cancel
              </button>
            </li>
          ))}
        </ul>
      )}
      <FaultForm />
    </Panel>
  )
}

function FaultForm() {
  const [on, setOn] = useState('*')
  const [kind, setKind] = useState('status')
  const [times, setTimes] = useState('1')
  const [code, setCode] = useState('500')
  const [delayMs, setDelayMs] = useState('2000')
  if (!setup.value) return null
  const { operations } = setup.value
  const isDelayed = kind === 'delay' || kind === 'drip'
  const add = async (event: Event) => {
    event.preventDefault()
    await attempt(
      () =>
        perform('addFault', {
          on,
          kind,
          times: times === '' ? null : Number(times),
          ...(kind === 'status' && { status: Number(code) }),
          ...(isDelayed && { delayMs: Number(delayMs) }),
        }),
      'The next request will meet it.',
    )
  }
  return (
    <form class="form inline fault-form" aria-label="Switch a fault on" onSubmit={add}>
      <SelectField
        label="On"
        value={on}
        onChange={setOn}
        options={[['*', 'any request'], ...operations.map((name) => [name, name] as const)]}
      />
      <SelectField label="The service" value={kind} onChange={setKind} options={Object.entries(KINDS)} />
      {kind === 'status' && (
        <TextField label="HTTP code" type="number" min={200} max={599} value={code} onInput={setCode} required />
      )}
      {isDelayed && (
        <TextField label="Milliseconds" type="number" min={0} value={delayMs} onInput={setDelayMs} required />
      )}
      <TextField label="How often" type="number" min={1} value={times} onInput={setTimes} placeholder="always" />
      <button type="submit">Switch on</button>
    </form>
  )
}

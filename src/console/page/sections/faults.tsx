import type { FaultKind } from 'campaign-client/testing'
import { useState } from 'preact/hooks'
import type { FaultView } from '../../protocol.ts'
import { attempt, perform, tell } from '../actions.ts'
import { faults, refresh, requests, setup } from '../live.ts'
import { Badge } from '../parts/badge.tsx'
import { Form, SelectField, TextField } from '../parts/form.tsx'
import { Empty, Facts, Panel } from '../parts/panel.tsx'
import { RequestTable } from './requests.tsx'

/** The name of each kind, and what it does to a call. */
export const FAULT_KINDS: Readonly<Record<FaultKind, readonly [name: string, sentence: string]>> = {
  status: ['error status', 'Answers with the HTTP status you choose. The call has no effect.'],
  reset: ['lost connection', 'Closes the connection without an answer. The call has no effect.'],
  applied_then_reset: ['lost answer', 'Performs the call, then closes the connection without an answer.'],
  hang: ['no answer', 'Keeps the connection open and never answers. The call has no effect.'],
  garbage: ['HTML answer', 'Answers 200 with an HTML page instead of JSON. The call has no effect.'],
  truncate: ['cut-off answer', 'Performs the call, sends half of the answer and closes the connection.'],
  stall: ['stalled answer', 'Performs the call, sends half of the answer, then nothing more.'],
  drip: ['slow answer', 'Performs the call and sends the answer byte by byte, with a pause before each.'],
  delay: ['late answer', 'Performs the call and answers after the time you choose.'],
  misshapen: ['unexpected JSON', 'Performs the call and answers with JSON that the documentation does not show.'],
}

export function Faults({ brief = false }: { brief?: boolean }) {
  const met = requests.value.filter(({ fault }) => fault !== undefined)
  return (
    <>
      <Panel title="Faults" all={brief ? '/faults' : undefined}>
        {faults.value.length === 0 ? (
          <Empty>None is switched on.</Empty>
        ) : (
          <ul class="rows">
            {faults.value.map((fault) => (
              <FaultLine key={fault.key} fault={fault} />
            ))}
          </ul>
        )}
        <FaultForm />
      </Panel>
      {!brief && (
        <>
          <Panel title="Affected calls">
            {met.length === 0 ? <Empty>No call has met one yet.</Empty> : <RequestTable rows={met} />}
          </Panel>
          <Panel title="Kinds">
            <Facts facts={Object.values(FAULT_KINDS)} />
          </Panel>
        </>
      )}
    </>
  )
}

function FaultLine({ fault: { key, options, remaining } }: { fault: FaultView }) {
  const [name] = FAULT_KINDS[options.kind]
  const { on = '*' } = options
  return (
    <li class="row">
      <Badge tone="warn">{remaining === null ? 'always' : `${remaining} left`}</Badge>
      <span class="grow">
        <strong>{on === '*' ? 'Any request' : on}</strong>: {name}
        {'status' in options && ` ${options.status}`}
        {'delayMs' in options && `, ${options.delayMs} ms`}
      </span>
      <button
        type="button"
        class="small"
        aria-label={`Cancel ${name} on ${on === '*' ? 'any request' : on}`}
        onClick={() => attempt(() => perform('cancelFault', { key }), 'The fault is switched off.')}
      >
        Cancel
      </button>
    </li>
  )
}

function FaultForm() {
  const [on, setOn] = useState('*')
  const [kind, setKind] = useState<FaultKind>('status')
  const [times, setTimes] = useState('1')
  const [code, setCode] = useState('500')
  const [delayMs, setDelayMs] = useState('2000')
  if (!setup.value) return null
  const { operations } = setup.value
  const isDelayed = kind === 'delay' || kind === 'drip'
  const add = async () => {
    await perform('addFault', {
      on,
      kind,
      times: times === '' ? null : Number(times),
      ...(kind === 'status' && { status: Number(code) }),
      ...(isDelayed && { delayMs: delayMs === '' ? -1 : Number(delayMs) }),
    })
    await refresh()
    tell(times === '1' ? 'The next request for it meets the fault.' : 'The next requests for it meet the fault.')
  }
  return (
    <Form class="form inline fault-form" label="Switch a fault on" onSubmit={add}>
      <SelectField
        name="on"
        label="On"
        value={on}
        onChange={setOn}
        options={[['*', 'any request'], ...operations.map((name) => [name, name] as const)]}
      />
      <SelectField
        name="kind"
        label="Kind"
        value={kind}
        onChange={(chosen) => setKind(chosen as FaultKind)}
        options={Object.entries(FAULT_KINDS).map(([value, [name]]) => [value, name])}
      />
      {kind === 'status' && (
        <TextField name="status" label="HTTP status" type="number" value={code} onInput={setCode} />
      )}
      {isDelayed && (
        <TextField name="delayMs" label="Milliseconds" type="number" value={delayMs} onInput={setDelayMs} />
      )}
      <TextField name="times" label="Times" type="number" value={times} onInput={setTimes} placeholder="always" />
      <button type="submit">Switch on</button>
      <p class="hint">{FAULT_KINDS[kind][1]}</p>
    </Form>
  )
}

import type { FaultKind } from 'campaign-client/testing'
import { useState } from 'preact/hooks'
import type { FaultView } from '../../protocol.ts'
import { notify, perform, run } from '../actions.ts'
import { refresh, requests, service } from '../live.ts'
import { Badge } from '../parts/badge.tsx'
import { FAULT_KINDS } from '../parts/fault-kinds.ts'
import { Form, SelectField, TextField } from '../parts/form.tsx'
import { Empty, Facts, Panel } from '../parts/panel.tsx'
import { RequestTable } from './requests.tsx'

/** The faults that are switched on, and a form that switches another one on. */
export function Faults({ brief = false }: { brief?: boolean }) {
  const affected = requests.value.rows.filter(({ fault }) => fault !== undefined)
  return (
    <>
      <Panel title="Faults" all={brief ? '/faults' : undefined}>
        {service.value.faults.length === 0 && <Empty>No fault is switched on.</Empty>}
        <ul class="rows">
          {service.value.faults.map((fault) => (
            <FaultLine key={fault.key} fault={fault} />
          ))}
        </ul>
        <FaultForm />
      </Panel>
      {!brief && (
        <>
          <Panel title="Affected calls">
            {affected.length === 0 ? (
              <Empty>No fault has affected a call yet.</Empty>
            ) : (
              <RequestTable rows={affected} />
            )}
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
  const target = options.on === undefined || options.on === '*' ? 'any request' : options.on
  return (
    <li class="row">
      <Badge tone="warn">{remaining === null ? 'always' : `${remaining} left`}</Badge>
      <span class="grow">
        <strong>{target}</strong>: {name}
        {'status' in options && ` ${options.status}`}
        {'delayMs' in options && `, ${options.delayMs}\u00a0ms`}
      </span>
      <button
        type="button"
        class="small"
        aria-label={`Switch off ${name} on ${target}`}
        onClick={() => run(() => perform('cancelFault', { key }), 'The fault was switched off.')}
      >
        Switch off
      </button>
    </li>
  )
}

function FaultForm() {
  const [kind, setKind] = useState<FaultKind>('status')
  const isDelayed = kind === 'delay' || kind === 'drip'
  const add = async (values: Readonly<Record<'on' | 'times' | 'status' | 'delayMs', string>>) => {
    const { on, times } = values
    await perform('addFault', {
      ...{ on, kind, times: times === '' ? null : Number(times) },
      // JSON has no NaN: the server gets `null` from an empty field and refuses it.
      ...(kind === 'status' && { status: Number.parseFloat(values.status) }),
      ...(isDelayed && { delayMs: Number.parseFloat(values.delayMs) }),
    })
    await refresh()
    notify('The fault was switched on.')
  }
  return (
    <Form class="inline fault-form" label="Switch a fault on" onSubmit={add}>
      <SelectField
        name="on"
        label="On"
        options={[['*', 'any request'], ...service.value.operations.map((name) => [name, name] as const)]}
      />
      <SelectField
        name="kind"
        label="Kind"
        value={kind}
        onChange={(value) => setKind(value as FaultKind)}
        options={Object.entries(FAULT_KINDS).map(([value, [name]]) => [value, name])}
      />
      {kind === 'status' && <TextField name="status" label="HTTP status" type="number" defaultValue="500" />}
      {isDelayed && <TextField name="delayMs" label="Milliseconds" type="number" defaultValue="2000" />}
      <TextField name="times" label="Times" type="number" defaultValue="1" placeholder="always" />
      <button type="submit">Switch on</button>
      <p class="hint">{FAULT_KINDS[kind][1]}</p>
    </Form>
  )
}

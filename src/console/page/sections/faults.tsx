import { useState } from 'preact/hooks'
import type { DeliveryFaultKind, FaultKind, FaultOptions } from '../../../testing/faults/fault-options.ts'
import { DELIVERY_FAULT_KINDS, FAULT_KINDS } from '../../fault-kinds.ts'
import type { ActionRequest, FaultView } from '../../protocol.ts'
import { notify, perform, run } from '../actions.ts'
import { deliveries, refresh, requests, service } from '../live.ts'
import { Badge } from '../parts/badge.tsx'
import { Form, SelectField, TextField } from '../parts/form.tsx'
import { Link } from '../parts/link.tsx'
import { Empty, Panel } from '../parts/panel.tsx'
import { count, Text } from '../parts/text.tsx'

/** The faults that are switched on, and a form that switches another one on. */
export function Faults() {
  const affectedBy = (rows: readonly { readonly fault?: unknown }[]) =>
    rows.filter(({ fault }) => fault !== undefined).length
  return (
    <Panel title="Faults">
      {service.value.faults.length === 0 && <Empty>No fault is switched on.</Empty>}
      <ul class="lines">
        {service.value.faults.map((fault) => (
          <FaultLine key={fault.key} fault={fault} />
        ))}
      </ul>
      <FaultForm />
      <p class="more">
        Affected so far: <Link to="/requests?show=fault">{count(affectedBy(requests.value.rows), 'call')}</Link>,{' '}
        <Link to="/webhooks?show=fault">{count(affectedBy(deliveries.value.rows), 'delivery')}</Link>
      </p>
    </Panel>
  )
}

const nameOf = (options: FaultOptions): string =>
  (options.on === 'delivery' ? DELIVERY_FAULT_KINDS[options.kind] : FAULT_KINDS[options.kind])[0]

function FaultLine({ fault: { key, options, remaining } }: { fault: FaultView }) {
  const name = nameOf(options)
  const { on = '*' } = options
  const target = on === '*' ? 'any request' : on === 'delivery' ? 'webhook delivery' : on
  const only = options.on === 'delivery' ? [options.scope, options.type].filter((part) => part !== undefined) : []
  return (
    <li class="line-item">
      <Badge tone="warn">{remaining === null ? 'always' : `${remaining} left`}</Badge>
      <span class="grow">
        <strong>{target}</strong>: {name}
        {'status' in options && ` ${options.status}`}
        {'delayMs' in options && `, ${options.delayMs}\u00a0ms`}
        {'field' in options && <Text>{` ${options.field}`}</Text>}
        {only.length > 0 && <Text>{`, only ${only.join(' ')}`}</Text>}
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

type Target = NonNullable<ActionRequest<'addFault'>['on']>

type Values = Readonly<Record<'on' | 'times' | 'status' | 'delayMs' | 'field' | 'type', string>>

function FaultForm() {
  const [on, setOn] = useState<Target>('*')
  const [chosen, setKind] = useState<FaultKind | DeliveryFaultKind>('status')
  const kinds: Readonly<Record<string, readonly [name: string, effect: string]>> =
    on === 'delivery' ? DELIVERY_FAULT_KINDS : FAULT_KINDS
  const kind = chosen in kinds ? chosen : (Object.keys(kinds)[0] as FaultKind | DeliveryFaultKind)
  const isDelayed = kind === 'delay' || kind === 'drip'
  const add = async ({ times, status, delayMs, field, type }: Values) => {
    await perform('addFault', {
      on,
      kind,
      times: times === '' ? null : Number(times),
      // JSON has no NaN: the server gets `null` from an empty field and refuses it.
      ...(kind === 'status' && { status: Number.parseFloat(status) }),
      ...(isDelayed && { delayMs: Number.parseFloat(delayMs) }),
      ...(kind === 'missing_field' && { field }),
      ...(type && { type }),
    })
    await refresh()
    notify('The fault was switched on.')
  }
  return (
    <Form class="inline fault-form" label="Switch a fault on" onSubmit={add}>
      <SelectField
        name="on"
        label="On"
        value={on}
        onChange={(value) => setOn(value as Target)}
        options={[
          ['*', 'any request'],
          ['delivery', 'webhook delivery'],
          ...service.value.operations.map((name) => [name, name] as const),
        ]}
      />
      <SelectField
        name="kind"
        label="Kind"
        value={kind}
        onChange={(value) => setKind(value as FaultKind | DeliveryFaultKind)}
        options={Object.entries(kinds).map(([value, [name]]) => [value, name])}
      />
      {kind === 'status' && <TextField name="status" label="HTTP status" type="number" defaultValue="500" />}
      {isDelayed && <TextField name="delayMs" label="Milliseconds" type="number" defaultValue="2000" />}
      {kind === 'missing_field' && <TextField name="field" label="Field" defaultValue="event.data.xp" />}
      {on === 'delivery' && (
        <SelectField
          name="type"
          label="Event"
          options={['', 'action_completed', 'quest_completed', 'reward_claimed'].map((type) => [type, type || 'any'])}
        />
      )}
      <TextField name="times" label="Times" type="number" defaultValue="1" placeholder="always" />
      <button type="submit">Switch on</button>
      <p class="hint">{kinds[kind]?.[1]}</p>
    </Form>
  )
}

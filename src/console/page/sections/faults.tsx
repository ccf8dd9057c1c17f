import { useState } from 'preact/hooks'
import type { DeliveryFaultKind, FaultKind, FaultOptions } from '../../../testing/faults/fault-options.ts'
import { DELIVERY_FAULT_KINDS, FAULT_KINDS } from '../../fault-kinds.ts'
import type { ActionRequest, FaultView } from '../../protocol.ts'
import { notify, perform, run } from '../actions.ts'
import { deliveries, refresh, requests, service } from '../live.ts'
import { Button, Link } from '../parts/controls.tsx'
import { Field, Form } from '../parts/form.tsx'
import { Empty, Panel } from '../parts/panel.tsx'
import { Badge, count, safe } from '../parts/text.tsx'

/** The faults that are switched on, and a form that switches another one on. */
export function Faults() {
  const { faults } = service.value
  const affected = (rows: readonly { readonly fault?: unknown }[]) => rows.filter(({ fault }) => fault !== undefined)
  return (
    <Panel title="Faults">
      {faults.length === 0 && <Empty>No fault is switched on.</Empty>}
      <ul>
        {faults.map((fault) => (
          <FaultLine key={fault.key} fault={fault} />
        ))}
      </ul>
      <FaultForm />
      <p class="hint">
        Affected so far: <Link to="/requests?show=fault" text={count(affected(requests.value.rows).length, 'call')} />,{' '}
        <Link to="/webhooks?show=fault" text={count(affected(deliveries.value.rows).length, 'delivery')} />
      </p>
    </Panel>
  )
}

function FaultLine({ fault: { key, options, remaining } }: { fault: FaultView }) {
  const { on = '*' } = options
  const target = on === '*' ? 'any request' : on === 'delivery' ? 'webhook delivery' : on
  const [name] = options.on === 'delivery' ? DELIVERY_FAULT_KINDS[options.kind] : FAULT_KINDS[options.kind]
  const off = () => run(() => perform('cancelFault', { key }), 'The fault was switched off.')
  return (
    <li class="flow line-item">
      <Badge tone="warn">{remaining === null ? 'always' : `${remaining} left`}</Badge>
      <span class="grow">
        <strong>{target}</strong>: {name} {safe(detailsOf(options))}
      </span>
      <Button text="Switch off" class="small" aria-label={`Switch off ${name} on ${target}`} onClick={off} />
    </li>
  )
}

function detailsOf(options: FaultOptions): string {
  const { status, field, delayMs, scope, type } = options as {
    readonly [Name in 'status' | 'field' | 'delayMs' | 'scope' | 'type']?: unknown
  }
  const only = [scope, type].filter((part) => part !== undefined)
  const details = [
    status,
    field,
    delayMs !== undefined && `${delayMs}\u00a0ms`,
    only.length > 0 && ['only', ...only].join(' '),
  ]
  return details.filter(Boolean).join(', ')
}

type Target = NonNullable<ActionRequest<'addFault'>['on']>
type Values = Readonly<Record<'on' | 'times' | 'status' | 'delayMs' | 'field' | 'type', string>>

const EVENT_TYPES = ['action_completed', 'quest_completed', 'reward_claimed'] as const

function FaultForm() {
  const [on, setOn] = useState('*')
  const [chosen, setKind] = useState('status')
  const kinds: Readonly<Record<string, readonly [name: string, effect: string]>> =
    on === 'delivery' ? DELIVERY_FAULT_KINDS : FAULT_KINDS
  const kind = (chosen in kinds ? chosen : Object.keys(kinds)[0]) as FaultKind | DeliveryFaultKind
  const isDelayed = kind === 'delay' || kind === 'drip'
  const add = async ({ times, status, delayMs, field, type }: Values) => {
    await perform('addFault', {
      on: on as Target,
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
  const targets = [
    ['*', 'any request'],
    ['delivery', 'webhook delivery'],
    ...service.value.operations.map(twice),
  ] as const
  const effect = <p class="hint">{kinds[kind]?.[1]}</p>
  const names = Object.entries(kinds).map(([value, [name]]) => [value, name] as const)
  return (
    <Form label="Switch a fault on" isInline submit="Switch on" onSubmit={add} result={effect}>
      <Field name="on" label="On" value={on} onChange={setOn} options={targets} />
      <Field name="kind" label="Kind" value={kind} onChange={setKind} options={names} />
      {kind === 'status' && <Field name="status" label="HTTP status" type="number" defaultValue="500" />}
      {isDelayed && <Field name="delayMs" label="Milliseconds" type="number" defaultValue="2000" />}
      {kind === 'missing_field' && <Field name="field" label="Field" defaultValue="event.data.xp" />}
      {on === 'delivery' && <Field name="type" label="Event" options={[['', 'any'], ...EVENT_TYPES.map(twice)]} />}
      <Field name="times" label="Times" type="number" defaultValue="1" placeholder="always" />
    </Form>
  )
}

/** An option whose text is its value. */
const twice = (value: string) => [value, value] as const

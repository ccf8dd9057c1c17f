import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { TestWebhookResult } from '../../../testing/webhooks/messages.ts'
import type { WebhookRecord } from '../../../testing/webhooks/webhook-registry.ts'
import { Problem } from '../../protocol.ts'
import { notify, perform, run } from '../actions.ts'
import { deliveries, refresh, service } from '../live.ts'
import { ask, Button, Link } from '../parts/controls.tsx'
import { Field, Form } from '../parts/form.tsx'
import { Json } from '../parts/json.tsx'
import { AbsentItem, CopyHead, Empty, Item, Panel } from '../parts/panel.tsx'
import { Badge, OneLine, safe } from '../parts/text.tsx'
import { filterQuery, go, pathOf } from '../route.ts'
import { Deliveries, linkTo } from './deliveries.tsx'

/** The webhooks and the deliveries of their messages. */
export function Webhooks() {
  const { webhooks } = service.value
  return (
    <>
      <Panel title="Webhooks" tools={<ToolLink to="/webhooks/new" text="Add a webhook" />}>
        {webhooks.length === 0 && <Empty>No webhook is registered, so no message is sent.</Empty>}
        <ul>
          {webhooks.map((webhook) => (
            <WebhookLine key={webhook.hook_id} webhook={webhook} />
          ))}
        </ul>
      </Panel>
      <Deliveries />
    </>
  )
}

const ToolLink = ({ to, text, label }: { to: string; text: string; label?: string }) => (
  <Link to={to} class="button small" label={label} text={text} />
)

function WebhookLine({ webhook }: { webhook: WebhookRecord }) {
  const { hook_id, scope, urls, campaigns, signed, secretMissing } = webhook
  const only = campaigns.length > 0 ? ` · only ${campaigns.join(', ')}` : ''
  const remove = () =>
    ask({
      title: 'Remove this webhook?',
      consequences: (
        <>This removes the URL {safe(urls.join(', '))} and the secret. Deliveries that wait for a retry are dropped.</>
      ),
      yes: 'Remove it',
      no: 'Keep it',
      onConfirm: () => run(() => perform('removeWebhook', { hook_id }), 'The webhook was removed.'),
    })
  return (
    <li class="flow line-item webhook">
      <div class="grow">
        {urls.map((url) => (
          <OneLine key={url} class="mono" text={url} />
        ))}
        <span class="muted">{safe(`${hook_id} · ${scope}${only}`)}</span>
      </div>
      <Badge tone={signed ? 'good' : 'warn'}>{signed ? 'signed' : secretMissing ? 'secret missing' : 'unsigned'}</Badge>
      <ToolLink to={pathOf('webhooks', 'test', hook_id)} text="Test" label={`Test ${hook_id}`} />
      <ToolLink to={pathOf('webhooks', 'edit', hook_id)} text="Edit" label={`Edit ${hook_id}`} />
      <Button text="Remove" class="small danger" aria-label={`Remove ${hook_id}`} onClick={remove} />
    </li>
  )
}

/** An unchecked checkbox, or a field that is not shown, has no value. */
type Values = Readonly<Record<'urls' | 'secret' | 'scope' | 'campaigns', string>> &
  Partial<Readonly<Record<'hook_id' | 'unsigned', string>>>

/** A form that changes a webhook, or adds one if `hookId` is absent. */
export function WebhookForm({ hookId }: { hookId: string | undefined }) {
  const known = service.value.webhooks.find(({ hook_id }) => hook_id === hookId)
  if (!known && hookId !== undefined) {
    return <AbsentItem title={hookId} back="/webhooks" error="There is no such webhook." />
  }
  const save = async ({ urls, secret, scope, campaigns, hook_id = '', unsigned }: Values) => {
    const newId = hook_id.trim()
    if (service.value.webhooks.some((other) => other.hook_id === newId)) {
      throw new Problem(`Another webhook has the ID "${newId}".`, 'hook_id')
    }
    await perform('saveWebhook', {
      ...(known ? { hook_id: known.hook_id } : newId && { hook_id: newId }),
      ...(unsigned ? { secret: '' } : secret && { secret }),
      urls: wordsOf(urls),
      scope,
      campaigns: wordsOf(campaigns),
    })
    // A message is signed when it is queued, not when it is sent.
    const isWaiting = deliveries.value.rows.some((row) => row.hook_id === known?.hook_id && row.state === 'pending')
    const note = isWaiting && (secret !== '' || unsigned !== undefined) ? ` ${NOTE_ON_RETRIES}` : ''
    notify(known ? `The webhook was changed.${note}` : 'The webhook was added.')
    go(`/webhooks${filterQuery.value}`)
    await refresh()
  }
  return (
    <Item title={known?.hook_id ?? 'Add a webhook'} back="/webhooks">
      <Form label="Webhook" submit={known ? 'Save' : 'Add'} onSubmit={save}>
        <Field
          name="urls"
          label="URL"
          rows={2}
          placeholder="http://127.0.0.1:3000/webhooks/campaign"
          defaultValue={known?.urls.join('\n') ?? ''}
          hint="One URL per line. Each gets the same message."
        />
        <Field name="secret" label="Secret" type="password" hint={secretHint(known)} />
        {known?.signed && (
          <label>
            <input type="checkbox" name="unsigned" /> Remove the secret and send messages without a signature
          </label>
        )}
        <Field name="scope" label="Scope" defaultValue={known?.scope ?? 'user_activity'} />
        <Field
          name="campaigns"
          label="Only campaigns"
          defaultValue={known?.campaigns.join(', ') ?? ''}
          hint="Campaign IDs, separated by commas. Leave it empty for all."
        />
        {!known && <Field name="hook_id" label="Hook ID" hint="Leave it empty to get a generated ID." />}
      </Form>
    </Item>
  )
}

const NOTE_ON_RETRIES =
  'Retries that wait keep the signature of the old secret: redeliver a message to sign it with the new one.'

const wordsOf = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean)

function secretHint(known: WebhookRecord | undefined): string {
  if (known?.signed) return 'Leave it empty to keep the current secret.'
  return !known && service.value.hasSecret
    ? 'Leave it empty to use CAMPAIGN_WEBHOOK_SECRET.'
    : 'Leave it empty to send messages without a signature.'
}

/** The Test tool of the admin panel: sends a simulated `user_activity` to one URL, once. */
export function TestWebhook({ hookId }: { hookId: string | undefined }) {
  const [sent, setSent] = useState<{ readonly url: string; readonly result: TestWebhookResult }>()
  const { campaigns, webhooks } = service.value
  // The first option is selected.
  const sorted = [...webhooks].sort((one, other) => Number(other.hook_id === hookId) - Number(one.hook_id === hookId))
  const targets = sorted.flatMap(({ hook_id, urls }) => urls.map((url) => ({ hook_id, url })))
  const urls = targets.map(({ hook_id, url }, index) => [String(index), `${url} · ${hook_id}`] as const)
  const pids = [['', 'the only one'], ...campaigns.map(({ pid, name }) => [pid, name] as const)] as const
  useEffect(() => document.querySelector<HTMLElement>('.pane input')?.focus(), [hookId])
  const test = async ({ account, target, pid }: Readonly<Record<'account' | 'target' | 'pid', string>>) => {
    setSent(undefined)
    const { hook_id = '', url = '' } = targets[Number(target)] ?? {}
    setSent({ url, result: await perform('testWebhook', { account, ...(pid && { pid }), hook_id, url }) })
    await refresh()
  }
  const obstacle = targets.length === 0 && 'needs a webhook'
  const result = sent && <Result {...sent} />
  return (
    <Item title="Test webhook" back="/webhooks">
      <Form label="Test webhook" submit="Test" obstacle={obstacle} onSubmit={test} result={result}>
        <Field name="account" label="User ID" placeholder="ada" />
        <Field key={hookId} name="target" label="URL" options={urls} />
        {campaigns.length > 1 && <Field name="pid" label="In campaign" options={pids} />}
      </Form>
    </Item>
  )
}

function Result({ url, result: { Payload, Success, Status, Data } }: { url: string; result: TestWebhookResult }) {
  const message = JSON.parse(Payload)
  const delivery = deliveries.value.rows.find(({ id }) => id === message.id)
  return (
    <div aria-live="polite">
      <p class="flow hint">
        <span>Sent to {safe(url)}</span>
        {delivery && <Link to={linkTo(delivery)} text="Open the message" />}
      </p>
      <div class="flow outcome">
        <Output label="Success" isGood={Success} text={String(Success)} />
        <Output label="Status" isGood={Status >= 200 && Status < 300} text={Status} />
        <Output label="Data" text={Data === '' ? <span class="muted">(empty)</span> : safe(Data)} />
      </div>
      <CopyHead title="Payload" text={Payload} label="Copy the exact bytes" />
      <output aria-label="Payload">
        <Json value={message} />
      </output>
    </div>
  )
}

const Output = ({ label, isGood, text }: { label: string; isGood?: boolean; text: ComponentChildren }) => (
  <div>
    <p class="hint">{label}</p>
    <output aria-label={label} class={isGood === undefined ? undefined : isGood ? 'good' : 'bad'}>
      {text}
    </output>
  </div>
)

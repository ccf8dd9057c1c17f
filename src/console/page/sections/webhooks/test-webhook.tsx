import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { TestWebhookResult } from '../../../../testing/webhooks/messages.ts'
import { perform } from '../../actions.ts'
import { deliveries, refresh, service } from '../../live.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Form, SelectField, TextField } from '../../parts/form.tsx'
import { Json } from '../../parts/json.tsx'
import { Link } from '../../parts/link.tsx'
import { Item } from '../../parts/panel.tsx'
import { Text } from '../../parts/text.tsx'
import { linkTo } from './deliveries.tsx'

/** The Test tool of the admin panel: sends a simulated `user_activity` to one URL, once. */
export function TestWebhook({ hookId }: { hookId: string | undefined }) {
  const [sent, setSent] = useState<{ readonly url: string; readonly result: TestWebhookResult }>()
  const root = useRef<HTMLDivElement>(null)
  const { campaigns, webhooks } = service.value
  const targets = webhooks.flatMap(({ hook_id, urls }) => urls.map((url) => ({ hook_id, url })))
  const ofWebhook = targets.findIndex(({ hook_id }) => hook_id === hookId)
  const [chosen, setChosen] = useState<string>()
  useEffect(() => {
    setChosen(undefined)
    root.current?.querySelector('input')?.focus()
  }, [hookId])
  const test = async ({ account, target, pid }: Readonly<Record<'account' | 'target' | 'pid', string>>) => {
    setSent(undefined)
    const { hook_id = '', url = '' } = targets[Number(target)] ?? {}
    setSent({ url, result: await perform('testWebhook', { account, ...(pid && { pid }), hook_id, url }) })
    await refresh()
  }
  return (
    <Item title="Test webhook" back="/webhooks">
      <div ref={root}>
        <Form label="Test webhook" onSubmit={test}>
          <div class="form">
            <TextField name="account" label="User ID" placeholder="ada" />
            <SelectField
              name="target"
              label="URL"
              value={chosen ?? String(Math.max(0, ofWebhook))}
              onChange={setChosen}
              options={targets.map(({ hook_id, url }, index) => [String(index), `${url} · ${hook_id}`])}
            />
            {campaigns.length > 1 && (
              <SelectField
                name="pid"
                label="In campaign"
                options={[['', 'the only one'], ...campaigns.map(({ pid, name }) => [pid, name] as const)]}
              />
            )}
            <button type="submit" class="primary" disabled={targets.length === 0}>
              Test
            </button>
            {targets.length === 0 && <span class="needs">needs a webhook</span>}
          </div>
          {sent && <Result {...sent} />}
        </Form>
      </div>
    </Item>
  )
}

function Result({ url, result: { Payload, Success, Status, Data } }: { url: string; result: TestWebhookResult }) {
  const payload = useId()
  const message = JSON.parse(Payload)
  const delivery = deliveries.value.rows.find(({ id }) => id === message.id)
  return (
    <div class="result" aria-live="polite">
      <p class="hint">
        Sent to <Text>{url}</Text>
      </p>
      {delivery && (
        <p class="hint">
          <Link to={linkTo(delivery)} keepsFilters>
            Open the message
          </Link>
        </p>
      )}
      <div class="outcome">
        <Output label="Success" tone={Success ? 'good' : 'bad'}>
          {String(Success)}
        </Output>
        <Output label="Status" tone={Status >= 200 && Status < 300 ? 'good' : 'bad'}>
          {Status}
        </Output>
        <Output label="Data">{Data === '' ? <span class="muted">(empty)</span> : <Text>{Data}</Text>}</Output>
      </div>
      <div class="minor-head">
        <label for={payload}>Payload</label>
        <CopyButton text={Payload} label="Copy the exact bytes" />
      </div>
      <output id={payload} class="block">
        <Json value={message} />
      </output>
    </div>
  )
}

function Output({ label, tone, children }: { label: string; tone?: string; children: ComponentChildren }) {
  const id = useId()
  return (
    <div>
      <label for={id}>{label}</label>
      <output id={id} class={tone}>
        {children}
      </output>
    </div>
  )
}

import type { TestWebhookResult } from 'campaign-client/testing'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { perform } from '../../actions.ts'
import { refresh, service } from '../../live.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Form, SelectField, TextField } from '../../parts/form.tsx'
import { Json } from '../../parts/json.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Text } from '../../parts/text.tsx'
import { parameter, setParameter } from '../../route.ts'

/** The Test tool of the admin panel: sends a simulated `user_activity` once. */
export function TestWebhook() {
  const [result, setResult] = useState<TestWebhookResult>()
  const root = useRef<HTMLDivElement>(null)
  const { webhooks } = service.value
  // The Test button of an endpoint puts the endpoint's ID in the address.
  const asked = parameter('test')
  useEffect(() => {
    if (asked !== '') root.current?.querySelector('input')?.focus()
  }, [asked])
  const test = async (values: Readonly<Record<'account' | 'hook_id', string>>) => {
    setResult(undefined)
    setResult(await perform('testWebhook', values))
    await refresh()
  }
  return (
    <div ref={root}>
      <Panel title="Test webhook">
        <Form label="Test webhook" onSubmit={test}>
          <div class="inline">
            <TextField name="account" label="User ID" placeholder="ada" />
            <SelectField
              name="hook_id"
              label="Endpoint"
              value={(webhooks.find(({ hook_id }) => hook_id === asked) ?? webhooks[0])?.hook_id ?? ''}
              onChange={(hookId) => setParameter('test', hookId)}
              options={webhooks.map(({ hook_id, urls }) => [hook_id, `${hook_id}: ${urls[0]}`])}
            />
            <button type="submit" class="primary" disabled={webhooks.length === 0}>
              Test
            </button>
            {webhooks.length === 0 && <span class="needs">needs an endpoint</span>}
          </div>
          {result && <Result result={result} />}
        </Form>
      </Panel>
    </div>
  )
}

function Result({ result: { Payload, Success, Status, Data } }: { result: TestWebhookResult }) {
  const payload = useId()
  return (
    <div class="result" aria-live="polite">
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
        <Json value={JSON.parse(Payload)} />
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

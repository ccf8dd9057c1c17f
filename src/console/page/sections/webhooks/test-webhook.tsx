import type { TestWebhookResult } from 'campaign-client/testing'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { perform } from '../../actions.ts'
import { refresh, webhooks } from '../../live.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Form, SelectField, TextField } from '../../parts/form.tsx'
import { Json } from '../../parts/json.tsx'
import { Text } from '../../parts/text.tsx'
import { parameter, setParameter } from '../../route.ts'

/** The Test tool of the admin panel: sends a simulated `user_activity` once. */
export function TestWebhook() {
  const [account, setAccount] = useState('')
  const [result, setResult] = useState<TestWebhookResult>()
  const panel = useRef<HTMLDivElement>(null)
  const title = useId()
  // The Test button of an endpoint names it in the address.
  const asked = parameter('test')
  const known = webhooks.value.some(({ hook_id }) => hook_id === asked)
  useEffect(() => {
    if (asked === '') return
    panel.current?.scrollIntoView({ block: 'nearest' })
    panel.current?.querySelector('input')?.focus()
  }, [asked])
  const test = async () => {
    setResult(undefined)
    setResult(await perform('testWebhook', { account: account.trim(), ...(known && { hook_id: asked }) }))
    await refresh()
  }
  return (
    <div ref={panel}>
      <Form class="panel form" labelledBy={title} onSubmit={test}>
        <header class="panel-head">
          <h3 id={title}>Test webhook</h3>
        </header>
        <div class="inline">
          <TextField name="account" label="User ID" value={account} onInput={setAccount} placeholder="ada" />
          {webhooks.value.length > 1 && (
            <SelectField
              name="hook_id"
              label="Endpoint"
              value={known ? asked : (webhooks.value[0]?.hook_id ?? '')}
              onChange={(hookId) => setParameter('test', hookId)}
              options={webhooks.value.map(({ hook_id, urls }) => [hook_id, `${hook_id}: ${urls[0]}`])}
            />
          )}
          <button type="submit" class="primary" disabled={webhooks.value.length === 0}>
            Test
          </button>
          {webhooks.value.length === 0 && <span class="needs">needs an endpoint</span>}
        </div>
        {result && <Result result={result} />}
      </Form>
    </div>
  )
}

function Result({ result: { Payload, Success, Status, Data } }: { result: TestWebhookResult }) {
  const id = useId()
  return (
    <div class="result" aria-live="polite">
      <div class="outcome">
        <div>
          <label for={`${id}-success`}>Success</label>
          <output id={`${id}-success`} class={Success ? 'good-text' : 'bad-text'}>
            {String(Success)}
          </output>
        </div>
        <div>
          <label for={`${id}-status`}>Status</label>
          <output id={`${id}-status`} class={Status >= 200 && Status < 300 ? 'good-text' : 'bad-text'}>
            {Status}
          </output>
        </div>
        <div class="grow">
          <label for={`${id}-data`}>Data</label>
          <output id={`${id}-data`}>{Data === '' ? <span class="muted">(empty)</span> : <Text>{Data}</Text>}</output>
        </div>
      </div>
      <div class="minor-head">
        <label for={`${id}-payload`}>Payload</label>
        <CopyButton text={Payload} label="Copy the exact bytes" />
      </div>
      <output id={`${id}-payload`} class="block">
        <Json value={JSON.parse(Payload)} />
      </output>
    </div>
  )
}

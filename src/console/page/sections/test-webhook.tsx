import { useId, useState } from 'preact/hooks'
import { toVisible } from '../../../shared/text/visible-text.ts'
import type { TestResult } from '../../protocol.ts'
import { messageOf, perform } from '../actions.ts'
import { webhooks } from '../live.ts'
import { coloured } from '../parts/code.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { SelectField, TextField } from '../parts/field.tsx'
import { Text } from '../parts/text.tsx'

/** The Test tool of the admin panel: a simulated `user_activity`, sent once. */
export function TestWebhook() {
  const [account, setAccount] = useState('')
  const [hookId, setHookId] = useState('')
  const [result, setResult] = useState<TestResult>()
  const [error, setError] = useState<string>()
  const title = useId()
  const known = webhooks.value.some(({ hook_id }) => hook_id === hookId)
  const test = async (event: Event) => {
    event.preventDefault()
    setError(undefined)
    try {
      setResult(await perform('testWebhook', { account: account.trim(), ...(known && { hook_id: hookId }) }))
    } catch (reason) {
      setResult(undefined)
      setError(messageOf(reason))
    }
  }
  return (
    <form class="panel form" aria-labelledby={title} onSubmit={test}>
      <header class="panel-head">
        <h3 id={title}>Test webhook</h3>
      </header>
      <div class="inline">
        <TextField label="User ID" value={account} onInput={setAccount} required placeholder="ada" />
        {webhooks.value.length > 1 && (
          <SelectField
            label="Endpoint"
            value={known ? hookId : (webhooks.value[0]?.hook_id ?? '')}
            onChange={setHookId}
            options={webhooks.value.map(({ hook_id, urls }) => [hook_id, `${urls[0]} (${hook_id})`])}
          />
        )}
        <button type="submit" class="primary">
          Test
        </button>
      </div>
      {error !== undefined && (
        <p class="callout" role="alert">
          <Text>{error}</Text>
        </p>
      )}
      {result && <Result result={result} />}
    </form>
  )
}

function Result({ result: { Payload, Success, Status, Data } }: { result: TestResult }) {
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
      <label for={`${id}-payload`}>Payload</label>
      <output id={`${id}-payload`} class="block code">
        {coloured(toVisible(Payload))}
      </output>
      <CopyButton text={Payload} label="Copy the exact bytes" />
    </div>
  )
}

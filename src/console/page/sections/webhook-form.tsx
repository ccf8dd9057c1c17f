import { useState } from 'preact/hooks'
import { attempt, perform } from '../actions.ts'
import { setup, webhooks } from '../live.ts'
import { Field, TextField } from '../parts/field.tsx'
import { Item, Pending } from '../parts/panel.tsx'
import { Text } from '../parts/text.tsx'
import { go } from '../route.ts'

/** Adds an endpoint, or changes one. */
export function WebhookForm({ hookId }: { hookId: string | undefined }) {
  const webhook = webhooks.value.find(({ hook_id }) => hook_id === hookId)
  if (hookId !== undefined && !webhook) {
    return (
      <Item title={<Text>{hookId}</Text>} back="/webhooks">
        <Pending error="There is no such endpoint." />
      </Item>
    )
  }
  return (
    <Item title={webhook ? <Text>{webhook.hook_id}</Text> : 'Add an endpoint'} back="/webhooks">
      <Fields key={hookId} known={webhook} />
    </Item>
  )
}

const lines = (text: string): string[] =>
  text
    .split(/[\s,]+/)
    .map((line) => line.trim())
    .filter(Boolean)

function Fields({ known }: { known: (typeof webhooks.value)[number] | undefined }) {
  const [urls, setUrls] = useState(known?.urls.join('\n') ?? '')
  const [secret, setSecret] = useState('')
  const [unsigned, setUnsigned] = useState(false)
  const [scope, setScope] = useState(known?.scope ?? 'user_activity')
  const [pids, setPids] = useState(known?.campaigns.join(', ') ?? '')
  const [id, setId] = useState('')
  const save = async (event: Event) => {
    event.preventDefault()
    const hook_id = known?.hook_id ?? id.trim()
    const saved = await attempt(
      () =>
        perform('saveWebhook', {
          ...(hook_id !== '' && { hook_id }),
          urls: lines(urls),
          scope: scope.trim(),
          ...(unsigned ? { secret: '' } : secret !== '' && { secret }),
          campaigns: lines(pids),
        }),
      known ? 'The endpoint is changed.' : 'The endpoint is added.',
    )
    if (saved) go('/webhooks')
  }
  const secretHint = known
    ? 'Leave it empty to keep what it is.'
    : setup.value?.hasSecret
      ? 'Leave it empty for the one of CAMPAIGN_WEBHOOK_SECRET.'
      : 'Leave it empty and messages are not signed.'
  return (
    <form class="form" onSubmit={save}>
      <Field label="URL" hint="Several, one to a line, get the same payload each.">
        {(ids) => (
          <textarea
            {...ids}
            rows={2}
            required
            spellcheck={false}
            placeholder="http://127.0.0.1:3000/webhooks/campaign"
            value={urls}
            onInput={({ currentTarget }) => setUrls(currentTarget.value)}
          />
        )}
      </Field>
      <TextField label="Secret" type="password" value={secret} onInput={setSecret} hint={secretHint} />
      {known?.signed && (
        <label class="toggle">
          <input
            type="checkbox"
            checked={unsigned}
            onChange={({ currentTarget }) => setUnsigned(currentTarget.checked)}
          />
          Send messages unsigned
        </label>
      )}
      <TextField label="Scope" value={scope} onInput={setScope} required />
      <TextField label="Only campaigns" value={pids} onInput={setPids} hint="Campaign IDs. Leave it empty for all." />
      {!known && <TextField label="Hook ID" value={id} onInput={setId} hint="Leave it empty for one made up." />}
      <div class="buttons">
        <button type="submit" class="primary">
          {known ? 'Save' : 'Add'}
        </button>
      </div>
    </form>
  )
}

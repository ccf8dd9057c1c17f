import type { WebhookRecord } from 'campaign-client/testing'
import { useState } from 'preact/hooks'
import { perform, tell } from '../../actions.ts'
import { refresh, setup, webhooks } from '../../live.ts'
import { Field, Form, TextField } from '../../parts/form.tsx'
import { AbsentItem, Item } from '../../parts/panel.tsx'
import { go } from '../../route.ts'

/** Adds an endpoint, or changes one. */
export function WebhookForm({ hookId }: { hookId: string | undefined }) {
  const webhook = webhooks.value.find(({ hook_id }) => hook_id === hookId)
  if (hookId !== undefined && !webhook) {
    return <AbsentItem title={hookId} back="/webhooks" error="There is no such endpoint." />
  }
  return (
    <Item title={webhook?.hook_id ?? 'Add an endpoint'} back="/webhooks">
      <Fields key={hookId} known={webhook} />
    </Item>
  )
}

const wordsOf = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean)

function Fields({ known }: { known: WebhookRecord | undefined }) {
  const [urls, setUrls] = useState(known?.urls.join('\n') ?? '')
  const [secret, setSecret] = useState('')
  const [unsigned, setUnsigned] = useState(false)
  const [scope, setScope] = useState(known?.scope ?? 'user_activity')
  const [pids, setPids] = useState(known?.campaigns.join(', ') ?? '')
  const [id, setId] = useState('')
  const save = async () => {
    await perform('saveWebhook', {
      ...(known && { hook_id: known.hook_id }),
      ...(id.trim() !== '' && { newId: id.trim() }),
      urls: wordsOf(urls),
      scope: scope.trim(),
      ...(unsigned ? { secret: '' } : secret !== '' && { secret }),
      campaigns: wordsOf(pids),
    })
    await refresh()
    tell(known ? 'The endpoint is changed.' : 'The endpoint is added.')
    go('/webhooks')
  }
  const secretHint = known
    ? known.signed
      ? 'Leave it empty to keep the present secret.'
      : 'Leave it empty to go on without a signature.'
    : setup.value?.hasSecret
      ? 'Leave it empty to use CAMPAIGN_WEBHOOK_SECRET.'
      : 'Leave it empty to send messages without a signature.'
  return (
    <Form class="form" onSubmit={save}>
      <Field name="urls" label="URL" hint="One URL per line. Each gets the same message.">
        {(attributes) => (
          <textarea
            {...attributes}
            rows={2}
            spellcheck={false}
            placeholder="http://127.0.0.1:3000/webhooks/campaign"
            value={urls}
            onInput={({ currentTarget }) => setUrls(currentTarget.value)}
          />
        )}
      </Field>
      <TextField name="secret" label="Secret" type="password" value={secret} onInput={setSecret} hint={secretHint} />
      {known?.signed && (
        <label class="toggle">
          <input
            type="checkbox"
            checked={unsigned}
            onChange={({ currentTarget }) => setUnsigned(currentTarget.checked)}
          />
          Remove the secret and send messages without a signature
        </label>
      )}
      <TextField name="scope" label="Scope" value={scope} onInput={setScope} />
      <TextField
        name="campaigns"
        label="Only campaigns"
        value={pids}
        onInput={setPids}
        hint="Campaign IDs, separated by commas. Leave it empty for all."
      />
      {!known && (
        <TextField name="newId" label="Hook ID" value={id} onInput={setId} hint="Leave it empty to get a new one." />
      )}
      <div class="buttons">
        <button type="submit" class="primary">
          {known ? 'Save' : 'Add'}
        </button>
      </div>
    </Form>
  )
}

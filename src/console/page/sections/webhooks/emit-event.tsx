import { useId, useState } from 'preact/hooks'
import { perform, tell } from '../../actions.ts'
import { campaigns, refresh, webhooks } from '../../live.ts'
import { Form, SelectField, TextField } from '../../parts/form.tsx'
import { count } from '../../parts/text.tsx'

const KINDS = ['action_completed', 'quest_completed'] as const

/** Sends an event to the endpoints that it is for. Nothing else changes. */
export function EmitEvent() {
  const title = useId()
  const [kind, setKind] = useState<(typeof KINDS)[number]>('action_completed')
  const [account, setAccount] = useState('')
  const [item, setItem] = useState('')
  const [pid, setPid] = useState('')
  const campaign = campaigns.value.find((each) => each.pid === pid) ?? campaigns.value[0]
  if (!campaign) return null
  const wanted = kind === 'action_completed' ? 'task' : 'quest'
  const items = campaign.items.filter((each) => each.kind === wanted)
  const chosen = items.find(({ id }) => id === item) ?? items[0]
  const obstacle =
    webhooks.value.length === 0 ? 'needs an endpoint' : chosen ? undefined : `needs a ${wanted} in the campaign`
  const send = async () => {
    const event = { kind, pid: campaign.pid, account: account.trim(), item: chosen?.id ?? '' }
    const { sent } = await perform('emit', event)
    await refresh()
    tell(sent > 0 ? `The event is on its way to ${count(sent, 'webhook')}.` : 'No endpoint takes this event.')
  }
  return (
    <Form class="panel form" labelledBy={title} onSubmit={send}>
      <header class="panel-head">
        <h3 id={title}>Send an event</h3>
      </header>
      <div class="inline">
        <SelectField
          name="kind"
          label="Event"
          value={kind}
          onChange={(chosen) => setKind(chosen as typeof kind)}
          options={KINDS.map((name) => [name, name])}
        />
        {campaigns.value.length > 1 && (
          <SelectField
            name="pid"
            label="In campaign"
            value={campaign.pid}
            onChange={setPid}
            options={campaigns.value.map(({ pid, name }) => [pid, name])}
          />
        )}
        <SelectField
          name="item"
          label={kind === 'action_completed' ? 'Task' : 'Quest'}
          value={chosen?.id ?? ''}
          onChange={setItem}
          options={items.map(({ id, name }) => [id, name])}
        />
        <TextField name="account" label="Account" value={account} onInput={setAccount} placeholder="ada" />
        <button type="submit" disabled={obstacle !== undefined}>
          Send
        </button>
        {obstacle !== undefined && <span class="needs">{obstacle}</span>}
      </div>
      <p class="hint">Sends the message only. The user's XP and progress stay as they are.</p>
    </Form>
  )
}

import { useId, useState } from 'preact/hooks'
import { attempt, perform } from '../actions.ts'
import { campaigns, webhooks } from '../live.ts'
import { SelectField, TextField } from '../parts/field.tsx'

/** Sends an event to every endpoint it is for, without anything else changing. */
export function EmitEvent() {
  const title = useId()
  const [kind, setKind] = useState('action_completed')
  const [account, setAccount] = useState('')
  const [item, setItem] = useState('')
  const [pid, setPid] = useState('')
  const campaign = campaigns.value.find((each) => each.pid === pid) ?? campaigns.value[0]
  if (!campaign) return null
  const wanted = kind === 'action_completed' ? 'task' : 'quest'
  const items = campaign.items.filter((each) => each.kind === wanted)
  const chosen = items.find(({ id }) => id === item) ?? items[0]
  const send = async (event: Event) => {
    event.preventDefault()
    await attempt(
      () => perform('emit', { kind, pid: campaign.pid, account: account.trim(), item: chosen?.id ?? '' }),
      webhooks.value.length === 0 ? 'No endpoint is registered: it went nowhere.' : 'The event is on its way.',
    )
  }
  return (
    <form class="panel form" aria-labelledby={title} onSubmit={send}>
      <header class="panel-head">
        <h3 id={title}>Send an event</h3>
      </header>
      <div class="inline">
        <SelectField
          label="Event"
          value={kind}
          onChange={setKind}
          options={[
            ['action_completed', 'action_completed'],
            ['quest_completed', 'quest_completed'],
          ]}
        />
        {campaigns.value.length > 1 && (
          <SelectField
            label="In campaign"
            value={campaign.pid}
            onChange={setPid}
            options={campaigns.value.map(({ pid, name }) => [pid, name])}
          />
        )}
        <SelectField
          label={kind === 'action_completed' ? 'Task' : 'Quest'}
          value={chosen?.id ?? ''}
          onChange={setItem}
          options={items.map(({ id, name }) => [id, name])}
        />
        <TextField label="Account" value={account} onInput={setAccount} required placeholder="ada" />
        <button type="submit">Send</button>
      </div>
      <p class="hint">Only the message goes out: nobody's XP changes.</p>
    </form>
  )
}

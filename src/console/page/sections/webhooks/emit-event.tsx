import { useState } from 'preact/hooks'
import { notify, perform } from '../../actions.ts'
import { refresh, service } from '../../live.ts'
import { Form, SelectField, TextField } from '../../parts/form.tsx'
import { Empty, Item } from '../../parts/panel.tsx'
import { count } from '../../parts/text.tsx'
import { linkTo } from './deliveries.tsx'

const KINDS = ['action_completed', 'quest_completed'] as const

/** A form that sends an event to the webhooks. */
export function EmitEvent() {
  const [kind, setKind] = useState<(typeof KINDS)[number]>('action_completed')
  const [pid, setPid] = useState('')
  const { campaigns, webhooks } = service.value
  const campaign = campaigns.find((each) => each.pid === pid) ?? campaigns[0]
  const wanted = kind === 'action_completed' ? 'task' : 'quest'
  const items = campaign?.items.filter((each) => each.kind === wanted) ?? []
  const obstacle = webhooks.length === 0 ? 'needs a webhook' : items.length === 0 && `needs a ${wanted} in the campaign`
  const send = async ({ account, item }: Readonly<Record<'account' | 'item', string>>) => {
    const id = kind === 'action_completed' ? { aid: item } : { cid: item }
    const { deliveries } = await perform('emit', { kind, pid: campaign?.pid, account, ...id })
    await refresh()
    const [key] = deliveries
    if (key === undefined) notify('No webhook accepts this event.')
    else {
      const next = { label: 'Open the message', to: linkTo({ key }) }
      notify(`The event was sent to ${count(deliveries.length, 'URL')}.`, { next })
    }
  }
  return (
    <Item title="Send an event" back="/webhooks">
      {!campaign ? (
        <Empty>There is no campaign. Load a seed with a campaign.</Empty>
      ) : (
        <Form class="inline" label="Send an event" onSubmit={send}>
          <SelectField
            name="kind"
            label="Event"
            value={kind}
            onChange={(value) => setKind(value as typeof kind)}
            options={KINDS.map((name) => [name, name])}
          />
          {campaigns.length > 1 && (
            <SelectField
              name="pid"
              label="In campaign"
              value={campaign.pid}
              onChange={setPid}
              options={campaigns.map(({ pid, name }) => [pid, name])}
            />
          )}
          <SelectField
            name="item"
            label={kind === 'action_completed' ? 'Task' : 'Quest'}
            options={items.map(({ id, name }) => [id, name])}
          />
          <TextField name="account" label="User ID" placeholder="ada" />
          <button type="submit" disabled={obstacle !== false}>
            Send
          </button>
          {obstacle && <span class="needs">{obstacle}</span>}
          <p class="hint">Sends the message only. The user's XP and progress stay the same.</p>
        </Form>
      )}
    </Item>
  )
}

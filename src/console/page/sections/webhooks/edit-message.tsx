import { isRecord } from '../../../../shared/type-checks.ts'
import { Problem } from '../../../action-requests.ts'
import { messageOf, notify, perform, useAction } from '../../actions.ts'
import { refresh, service } from '../../live.ts'
import { Form, SelectField, TextField } from '../../parts/form.tsx'
import { AbsentItem, Item } from '../../parts/panel.tsx'
import { count } from '../../parts/text.tsx'
import { go, pathOf } from '../../route.ts'
import { linkTo } from './deliveries.tsx'

const TITLE = 'Edit and send'

/** The path of the form for a delivery. */
export const editPath = (key: string): string => pathOf('webhooks', 'resend', key)

/** An unchecked checkbox has no value. */
type Values = Readonly<Record<'payload' | 'to', string>> & { readonly newId?: string }

/** A form that changes the payload of a message, and sends it, signed anew, to the webhook of the delivery or to all. */
export function EditMessage({ deliveryKey: key }: { deliveryKey: string }) {
  const { value: delivery, error } = useAction('readDelivery', { key }, undefined)
  if (!delivery) return <AbsentItem title={TITLE} back="/webhooks" error={error} />
  const send = async ({ payload: text, to, newId }: Values) => {
    const { id, ...payload } = parse(text)
    const { campaign } = payload
    const pid = isRecord(campaign) && typeof campaign.id === 'string' ? campaign.id : undefined
    const { deliveries } = await perform('emit', {
      kind: 'custom',
      payload: newId || id === undefined ? payload : { id, ...payload },
      ...(pid !== undefined && { pid }),
      ...(to && { hook_id: to }),
    })
    const [first] = deliveries
    if (first === undefined)
      throw new Problem('No webhook takes this message: check its scope and campaign.', 'payload')
    await refresh()
    notify(`The message was signed and sent to ${count(deliveries.length, 'URL')}.`)
    go(linkTo({ key: first }))
  }
  const { hook_id } = delivery
  const isRegistered = service.value.webhooks.some((webhook) => webhook.hook_id === hook_id)
  const title = `${TITLE} ${delivery.type}`
  return (
    <Item title={title} back="/webhooks">
      <Form class="form" label={title} submit="Sign and send" onSubmit={send}>
        <TextField
          name="payload"
          label="Payload"
          rows={22}
          defaultValue={JSON.stringify(JSON.parse(delivery.body), undefined, 2)}
          hint="Sent as compact JSON, signed with the current secret."
        />
        <SelectField
          name="to"
          label="To"
          options={[...(isRegistered ? [[hook_id, hook_id] as const] : []), ['', 'all webhooks of the scope']]}
        />
        <label>
          <input type="checkbox" name="newId" defaultChecked /> New message ID
        </label>
        <p class="hint">With the same ID, a receiver that handled the message must not handle it again.</p>
      </Form>
    </Item>
  )
}

/** @throws Problem at the field */
function parse(text: string): Record<string, unknown> {
  let payload: unknown
  try {
    payload = JSON.parse(text)
  } catch (error) {
    throw new Problem(`This is not JSON: ${messageOf(error)}.`, 'payload')
  }
  if (isRecord(payload)) return payload
  throw new Problem('Enter a JSON object.', 'payload')
}

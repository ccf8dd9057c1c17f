import { computed } from '@preact/signals'
import { isRecord } from '../../../shared/type-checks.ts'
import { DELIVERY_FAULT_KINDS } from '../../fault-kinds.ts'
import { type AttemptView, type DeliveryRow, Problem } from '../../protocol.ts'
import { messageOf, notify, perform, run, useAction } from '../actions.ts'
import { deliveries, refresh, requests, service, serviceTime } from '../live.ts'
import { Button, Link, UserLink } from '../parts/controls.tsx'
import { Field, Form } from '../parts/form.tsx'
import { Content, Json } from '../parts/json.tsx'
import { type Chip, FilteredList } from '../parts/list.tsx'
import { AbsentItem, Callout, CopyHead, Facts, Fold, Item, ItemTools } from '../parts/panel.tsx'
import { type RowView, TitledRows } from '../parts/rows.tsx'
import { About, amount, Badge, count, duration, OneLine, StatusBadge, safe, Time, titleOf } from '../parts/text.tsx'
import { filterQuery, go, pathOf } from '../route.ts'

const STATE_TONES = {
  sending: 'busy',
  waiting: 'busy',
  delivered: 'good',
  undelivered: 'bad',
  redelivered: 'good',
  dropped: 'plain',
} as const

/** Identifies a message to a URL: the same for each of its deliveries. */
const identityOf = ({ id, hook_id, url }: DeliveryRow): string => JSON.stringify([id, hook_id, url])

/** The latest delivery of each message to each URL. */
const latest = computed(() => new Map([...deliveries.value.rows].reverse().map((row) => [identityOf(row), row])))

const stateOf = (row: DeliveryRow): keyof typeof STATE_TONES => {
  if (row.state === 'pending') return row.nextAttemptAt === undefined ? 'sending' : 'waiting'
  if (row.state !== 'undelivered') return row.state
  return latest.value.get(identityOf(row))?.state === 'delivered' ? 'redelivered' : 'undelivered'
}

const StateBadge = ({ row }: { row: DeliveryRow }) => <Badge tone={STATE_TONES[stateOf(row)]}>{stateOf(row)}</Badge>

/** Whether an attempt failed. The Test tool shows its failures itself. */
export const hasFailed = ({ failures, isTest }: DeliveryRow): boolean => failures > 0 && !isTest

const CHIPS: readonly Chip<DeliveryRow>[] = [
  ['failed', 'Failed at least once', hasFailed],
  ['waiting', 'Waiting', (row) => stateOf(row) === 'waiting'],
  ['delivered', 'Delivered', ({ state }) => state === 'delivered'],
  ['undelivered', 'Undelivered', (row) => stateOf(row) === 'undelivered'],
  ['fault', 'Injected fault', ({ fault }) => fault !== undefined],
  ['console', 'Console', ({ isFromConsole }) => isFromConsole === true],
]

/** The webhook messages, newest first: one row for each URL. */
export const Deliveries = () => (
  <FilteredList
    name="deliveries"
    noun="delivery"
    list={deliveries.value}
    empty="No message has been sent yet."
    {...{ chips: CHIPS, headings: HEADINGS, searched, linkTo, view: deliveryView }}
  />
)

const searched = (row: DeliveryRow) => ({
  text: [row.id, row.type, row.item, row.user, row.url, row.hook_id, stateOf(row), ...row.statuses]
    .join(' ')
    .toLowerCase(),
  statuses: row.statuses,
  user: row.user,
  operation: row.type,
  isFailed: hasFailed(row),
  isRetried: row.attempts > 1,
})

/** Identifies the row's message. A redelivered message has rows of its own. */
const groupOf = ({ redeliveryOf, id }: DeliveryRow): string => redeliveryOf ?? id

export const linkTo = ({ key }: Pick<DeliveryRow, 'key'>): string => pathOf('webhooks', 'deliveries', key)

const labelOf = (row: DeliveryRow): string =>
  `${row.type} to ${row.url}, ${stateOf(row)}${row.failures > 0 ? ` after ${count(row.failures, 'failure')}` : ''}`

/** Names the receiver: its webhook, with the URL if the webhook has several or is gone. */
function receiverOf({ hook_id, url }: DeliveryRow): string {
  const webhook = service.value.webhooks.find((each) => each.hook_id === hook_id)
  return webhook?.urls.length === 1 ? hook_id : `${hook_id} · ${url.replace(/^https?:\/\//, '')}`
}

/** Says when the next attempt is, or how many were made. */
function attemptsOf({ attempts, nextAttemptAt }: DeliveryRow): string {
  if (nextAttemptAt === undefined) return attempts > 1 ? `${attempts} attempts` : ''
  const name = attempts === 0 ? 'first attempt' : `retry ${attempts}`
  return `${name} in ${duration(nextAttemptAt - serviceTime.value)}`
}

const Note = (row: DeliveryRow) => (
  <>
    {row.fault && <Badge tone="busy">fault</Badge>}
    {attemptsOf(row) !== '' && <span class={row.failures > 0 ? 'needs' : 'muted'}>{attemptsOf(row)}</span>}
    <OneLine class="muted mono" text={receiverOf(row)} />
  </>
)

/** A delivery as a row. */
export const deliveryView = (row: DeliveryRow, above?: DeliveryRow): RowView => ({
  at: <Time ms={row.at} />,
  state: <StateBadge row={row} />,
  name: row.type,
  about: <About {...row} more={row.isTest && 'test'} />,
  label: labelOf(row),
  who: <UserLink user={row.user} pid={row.pid} />,
  note: <Note {...row} />,
  end: row.attempts > 0 && <StatusBadge status={row.lastStatus} />,
  isSame: above !== undefined && groupOf(row) === groupOf(above),
})

const HEADINGS = { at: 'Time', state: 'State', name: 'Event', who: 'User', note: 'Webhook', end: 'Status' }

/** A delivery with its attempts, the request that caused it, and a button that sends the message again. */
export function Delivery({ deliveryKey: key }: { deliveryKey: string }) {
  const { rows } = deliveries.value
  const live = rows.find((row) => row.key === key)
  const { value: delivery, error } = useAction('readDelivery', { key }, live)
  if (!delivery) return <AbsentItem title="Delivery" back="/webhooks" error={error} />
  const row = live ?? delivery
  const next = row.nextAttemptAt
  const { id, url, curl, body, user, pid } = delivery
  const others = rows.filter((each) => each.key !== key && identityOf(each) === identityOf(delivery))
  const cause = requests.value.rows.find((each) => each.key === row.cause)
  const causeLink = cause && <Link to={pathOf('requests', cause.key)} text={safe(titleOf(cause))} />
  const edit = pathOf('webhooks', 'resend', key)
  const tools = <ItemTools back="/webhooks" itemKey={key} edit={edit} curl={curl} />
  const messageLink = <Link to={`/webhooks?find=${encodeURIComponent(id)}`} text={safe(id)} />
  return (
    <Item title={delivery.type} back="/webhooks" tools={tools}>
      <div class="flow line">
        <StateBadge row={row} />
        <OneLine class="mono" text={url} />
      </div>
      {cause && <p class="muted line">Caused by {causeLink}</p>}
      <Redeliver row={row} />
      <ol class="timeline" aria-label="Attempts">
        {delivery.attemptsMade.map((attempt, index, made) => (
          <li key={NAMES[index]} class={attempt.ok ? 'good' : 'bad'}>
            <strong>{NAMES[index]}</strong>{' '}
            <span class="muted">
              <Time ms={attempt.at} /> · {amount(attempt.durationMs)} ms
            </span>
            <Result attempt={attempt} isExplained={made.findIndex(({ advice }) => advice === attempt.advice) < index} />
          </li>
        ))}
        {row.state === 'pending' && (
          <li class="busy">
            <strong>{NAMES[delivery.attemptsMade.length]}</strong>{' '}
            <span class="muted">
              {next ? [`in ${duration(next - serviceTime.value)}, at `, <Time key="at" ms={next} />] : 'sending'}
            </span>
          </li>
        )}
      </ol>
      <TitledRows title="Other deliveries of this message" rows={others} linkTo={linkTo} view={deliveryView} />
      <CopyHead title="Message" text={body} label="Copy the exact bytes" />
      <Facts
        facts={[
          ['Message ID', messageLink],
          ['User ID', user && <UserLink user={user} pid={pid} />],
          ['x-service-signature', row.isTest ? '' : (delivery.signature ?? 'none: the webhook has no secret')],
        ]}
      />
      <Content text={body} />
    </Item>
  )
}

function Redeliver({ row }: { row: DeliveryRow }) {
  const { hook_id, url } = row
  const isRegistered = service.value.webhooks.some((each) => each.hook_id === hook_id && each.urls.includes(url))
  const obstacle = row.isTest
    ? 'The Test tool sends a message once. Use "Test" to send another.'
    : !isRegistered && 'The webhook no longer has this URL.'
  const redeliver = async () => {
    const { key } = await perform('redeliver', { key: row.key })
    go(linkTo({ ...row, key }) + filterQuery.value)
  }
  const start = () => run(redeliver, 'The message was sent again.')
  return (
    <div class="flow line">
      <Button text="Redeliver" disabled={obstacle !== false} onClick={start} />
      <p class="hint grow">
        Sends the same bytes with the same ID again, signed with the current secret. A handler that ran must not run
        twice.
      </p>
      {obstacle && <p class="needs">{obstacle}</p>}
    </div>
  )
}

const NAMES = ['First attempt', '1st retry', '2nd retry', '3rd retry', '4th retry'] as const

const ResponseBadge = ({ response: { ok, status } }: { response: Pick<AttemptView, 'ok' | 'status'> }) => (
  <Badge tone={ok ? 'good' : 'bad'}>{status ?? 'no response'}</Badge>
)

/**
 * The response to an attempt, or the reason why there was none, and what to do about a failure, unless an earlier attempt
 * has explained it.
 */
const Result = ({ attempt, isExplained }: { attempt: AttemptView; isExplained: boolean }) => (
  <>
    <p class="flow">
      <ResponseBadge response={attempt} />
      {attempt.fault && <Badge tone="busy">{`fault: ${DELIVERY_FAULT_KINDS[attempt.fault][0]}`}</Badge>}
      {attempt.error !== undefined && safe(attempt.error)}
      {attempt.response === '' && <span class="muted">empty response</span>}
    </p>
    {attempt.response && <Content text={attempt.response} />}
    {attempt.advice !== undefined && !isExplained && <Callout title="Hint:" text={safe(attempt.advice)} />}
    {!isExplained && attempt.findings.map((finding) => <Callout key={finding} text={safe(finding)} />)}
    {attempt.headers && <Fold title="Response headers" content={<Json value={attempt.headers} />} />}
    {attempt.copy && (
      <p class="flow">
        <ResponseBadge response={attempt.copy} />
        <span class="muted">to the same message, sent a second time</span>
      </p>
    )}
  </>
)

/** An unchecked checkbox has no value. */
type Values = Readonly<Record<'payload' | 'to', string>> & { readonly newId?: string }

/** A form that changes the payload of a message, and sends it, signed anew, to the webhook of the delivery or to all. */
export function EditMessage({ deliveryKey: key }: { deliveryKey: string }) {
  const { value: delivery, error } = useAction('readDelivery', { key }, undefined)
  if (!delivery) return <AbsentItem title="Edit and send" back="/webhooks" error={error} />
  const send = async ({ payload: text, to, newId }: Values) => {
    const { id, ...payload } = parse(text)
    const { campaign } = payload
    const pid = isRecord(campaign) && typeof campaign.id === 'string' ? campaign.id : undefined
    const { deliveries: sent } = await perform('emit', {
      kind: 'custom',
      payload: newId || id === undefined ? payload : { id, ...payload },
      ...(pid !== undefined && { pid }),
      ...(to && { hook_id: to }),
    })
    const [first] = sent
    if (first === undefined)
      throw new Problem('No webhook takes this message: check its scope and campaign.', 'payload')
    await refresh()
    notify(`The message was signed and sent to ${count(sent.length, 'URL')}.`)
    go(linkTo({ key: first }))
  }
  const own = service.value.webhooks.find(({ hook_id }) => hook_id === delivery.hook_id)
  const all = ['', 'all webhooks of the scope'] as const
  const targets = own ? [[own.hook_id, own.hook_id] as const, all] : [all]
  const title = `Edit and send ${delivery.type}`
  return (
    <Item title={title} back="/webhooks">
      <Form label={title} submit="Sign and send" onSubmit={send}>
        <Field
          name="payload"
          label="Payload"
          rows={22}
          defaultValue={JSON.stringify(JSON.parse(delivery.body), undefined, 2)}
          hint="Sent as compact JSON, signed with the current secret."
        />
        <Field name="to" label="To" options={targets} />
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
  try {
    const payload: unknown = JSON.parse(text)
    if (isRecord(payload)) return payload
  } catch (error) {
    throw new Problem(`This is not JSON: ${messageOf(error)}.`, 'payload')
  }
  throw new Problem('Enter a JSON object.', 'payload')
}

import { useEffect, useMemo } from 'preact/hooks'
import { comparableAddress } from '../../../shared/wallet-address.ts'
import type { ActionResult, CampaignView, ItemView, RequestRow, UserRow, UserView } from '../../protocol.ts'
import { keepFocus, perform, run, useAction } from '../actions.ts'
import { deliveries, requests, service } from '../live.ts'
import { Button, Link, UserLink } from '../parts/controls.tsx'
import { SearchField } from '../parts/list.tsx'
import { AbsentItem, Empty, Facts, Item, Panel } from '../parts/panel.tsx'
import { Rows, type RowView, TitledRows } from '../parts/rows.tsx'
import { amount, Badge, count, nameOf, OneLine, safe, Time } from '../parts/text.tsx'
import { parameter, pathOf, replace, setParameter } from '../route.ts'
import { deliveryView, linkTo as linkToDelivery } from './deliveries.tsx'
import { linkTo as linkToRequest, requestView, Who } from './requests.tsx'

const MAX_SHOWN = 10_000

/** The users of a campaign by rank. */
export function Users() {
  const { campaigns } = service.value
  const campaign = campaigns.find(({ pid }) => pid === parameter('pid')) ?? campaigns[0]
  if (!campaign) return <Panel title="Users">{NO_CAMPAIGN}</Panel>
  const { pid, name, points } = campaign
  return (
    <Panel title="Users">
      <div class="flow filters">
        <SearchField label="Filter by user ID, name or team" />
        {campaigns.length > 1 && (
          <select
            aria-label="Campaign"
            value={pid}
            onChange={({ currentTarget }) => setParameter('pid', currentTarget.value)}
          >
            {campaigns.map((each) => (
              <option key={each.pid} value={each.pid} label={each.name} />
            ))}
          </select>
        )}
      </div>
      <p class="flow line">
        <Link to={pathOf('users', pid)} text={safe(name)} />
        <span class="muted">{`${numberOf(campaign, 'task')} · ${numberOf(campaign, 'quest')} · ${amount(points)} XP`}</span>
      </p>
      <UserTable campaign={campaign} find={parameter('find')} />
    </Panel>
  )
}

const NO_CAMPAIGN = <Empty>There is no campaign. Load a seed with a campaign.</Empty>

/** Returns the number of items of a kind: `3 tasks`. */
const numberOf = ({ items }: CampaignView, wanted: ItemView['kind']): string =>
  count(items.filter(({ kind }) => kind === wanted).length, wanted)

function UserTable({ campaign, find }: { campaign: CampaignView; find: string }) {
  const tasks = numberOf(campaign, 'task')
  const view = useMemo(() => viewWith(tasks), [tasks])
  const { value, error } = useAction('listUsers', { pid: campaign.pid, find, limit: MAX_SHOWN }, service.value)
  if (!value) return <Empty>{error ?? 'Loading'}</Empty>
  if (value.found === 0) return <Empty>{find ? 'No user matches the filter.' : 'There are no users yet.'}</Empty>
  return (
    <>
      <Rows label="Users" class="users" headings={HEADINGS} rows={value.users} linkTo={linkTo} view={view} />
      {value.found > value.users.length && (
        <p class="hint">{`The first ${amount(value.users.length)} of ${amount(value.found)}, by rank`}</p>
      )}
    </>
  )
}

const linkTo = ({ pid, platform, account }: UserRow): string => pathOf('users', pid, platform, account)
const HEADINGS = { state: 'Rank', name: 'Name', who: 'User ID', note: 'Platform, tasks and team', end: 'XP' }

const viewWith =
  (tasks: string) =>
  ({ rank, isTied, name, account, platform, team, completedTasks, total }: UserRow): RowView => ({
    state: (
      <span class="mono" title={isTied ? 'Other users have the same rank' : undefined}>
        {rank}
        {isTied && ' ='}
        {isTied && <span class="hidden"> (shared)</span>}
      </span>
    ),
    name,
    who: nameOf(account),
    note: <OneLine class="muted" text={`${platform} · ${completedTasks} of ${tasks}${team && ` · ${team}`}`} />,
    end: amount(total),
  })

/** A campaign with its tasks, quests and challenges. */
export function Campaign({ pid }: { pid: string }) {
  const campaign = service.value.campaigns.find((each) => each.pid === pid)
  if (!campaign) return <AbsentItem title={pid} back="/users" error="There is no such campaign." />
  return (
    <Item title={campaign.name} back="/users">
      <p class="flow line">
        <code>pid: {safe(pid)}</code>
        <span class="muted">{`${count(campaign.users, 'user')} · ${amount(campaign.points)} XP`}</span>
      </p>
      <Items campaign={campaign} />
    </Item>
  )
}

const KINDS = { task: 'Tasks', quest: 'Quests', challenge: 'Challenges' } as const

/** The items of a campaign by kind: for a user, with their progress and buttons that complete tasks. */
const Items = ({ campaign, user }: { campaign: CampaignView; user?: UserView }) => (
  <>
    {Object.entries(KINDS).map(([kind, title]) => {
      const lines = campaign.items
        .filter((item) => item.kind === kind)
        .map((item) => <ItemLine key={item.id} item={item} user={user} />)
      return lines.length > 0 && [<h3 class="minor">{title}</h3>, <ul>{lines}</ul>]
    })}
  </>
)

function ItemLine({ item, user }: { item: ItemView; user: UserView | undefined }) {
  const { id, kind, isRecurring, actions } = item
  const isDone = (id: string) => user?.completed.includes(id) === true
  const missing = isDone(id) ? [] : item.deps.filter((each) => !isDone(each))
  const notes = [
    item.isOptional && 'optional',
    isRecurring && 'counts every time',
    actions && (user ? `${actions.filter(isDone).length} of ${count(actions.length, 'task')}` : actions.join(', ')),
  ]
  return (
    <li class="flow line-item">
      {user && (
        <span class={isDone(id) ? 'check done' : 'check'} aria-hidden="true">
          {isDone(id) && '✓'}
        </span>
      )}
      <span class="grow">
        {safe(item.name)} <code class="muted">{safe(id)}</code>
        <span class="muted">{safe(notes.flatMap((note) => (note ? ` · ${note}` : [])).join(''))}</span>
        {missing.length > 0 && <span class="needs"> · needs {safe(missing.join(', '))}</span>}
      </span>
      <span class="mono muted">{amount(item.xp)} XP</span>
      {user && kind === 'task' && (isRecurring || !isDone(id)) ? (
        <CompleteButton task={item} user={user} isDisabled={missing.length > 0} />
      ) : (
        isDone(id) && <Badge tone="good">completed</Badge>
      )}
    </li>
  )
}

function CompleteButton({ task, user, isDisabled }: { task: ItemView; user: UserView; isDisabled: boolean }) {
  const { pid, account, platform } = user
  const complete = () => perform('completeTask', { pid, account, platform, aid: task.id })
  const done = ({ messages }: ActionResult<'completeTask'>) => {
    const delivery = deliveries.value.rows.find(({ id }) => messages.includes(id))
    const next = delivery && <Link to={linkToDelivery(delivery)} text="Open the message" />
    return { text: `${task.name} was completed.`, next }
  }
  const start = () => run(complete, done)
  return (
    <Button text="Complete" class="small" disabled={isDisabled} aria-label={`Complete ${task.id}`} onClick={start} />
  )
}

/** A user with their progress, and buttons that complete tasks. */
export function User(props: Readonly<Record<'pid' | 'account' | 'platform', string>>) {
  const { value: user, error } = useAction('readUser', props, service.value)
  // The new state of the user has no button for a completed task, and the button may have had the focus.
  useEffect(keepFocus, [user])
  // A link may have `*` for the campaign or the platform.
  useEffect(() => {
    if (user) replace(pathOf('users', user.pid, user.platform, user.account))
  }, [user?.id])
  const campaign = service.value.campaigns.find(({ pid }) => pid === user?.pid)
  if (!user || !campaign) return <AbsentItem title={props.account} back="/users" error={error} />
  const figures = [
    ['Total XP', amount(user.total)],
    ['Rank', `${user.rank}${user.isTied ? ' =' : ''}`],
    ['From tasks', amount(user.xp)],
    ['Referrals', amount(user.ref_xp)],
  ] as const
  return (
    <Item title={user.name} back="/users">
      <p class="muted">
        User ID {safe(user.account)} on {safe(user.platform)} in {safe(campaign.name)}
      </p>
      <Facts class="figures" facts={figures} />
      <div class="story">
        <TitledRows
          title="Story: calls, progress and messages, newest first"
          rows={storyOf(user)}
          linkTo={({ to }) => to}
          view={({ view }) => view}
        />
      </div>
      <Items campaign={campaign} user={user} />
      <h3 class="minor">Details</h3>
      <Facts
        facts={[
          ['Team', user.team],
          ['Alias', user.alias],
          ['Wallet', user.wallet],
          ['E-mail', user.email],
          ['Linked accounts', user.profiles.map(({ account, platform }) => `${account} on ${platform}`).join(', ')],
          ['Referred by', user.referrer && <UserLink user={user.referrer} pid={user.pid} />],
          ['Referral link', user.ref_id],
          ['Rewards', user.rewards.map(({ id, reward }) => `${id} (${reward})`).join(', ')],
        ]}
      />
    </Item>
  )
}

/** The users that a call or a message concerns. */
type Concerned = Pick<RequestRow, 'user' | 'platform' | 'pid' | 'referrer' | 'ref_id'>

/** Returns the calls about a user, their progress and the messages about them, newest first. */
function storyOf(user: UserView) {
  const wallet = comparableAddress(user.wallet)
  const accounts = new Map(user.profiles.map(({ account, platform }) => [account, platform]))
  const isAccount = (name: string | undefined, on: string | undefined): boolean => {
    if (!name) return false
    const platform = accounts.get(name)
    if (platform === undefined) return wallet !== '' && comparableAddress(name) === wallet
    return on === undefined || on === platform
  }
  const isAbout = ({ user: account, platform, pid, referrer, ref_id }: Concerned): boolean =>
    (pid === '' || pid === user.pid) &&
    (isAccount(account, platform) || isAccount(referrer, platform) || (ref_id !== undefined && ref_id === user.ref_id))
  const calls = requests.value.rows.filter(isAbout).map((row) => {
    // The page names the user already. Only a referral has a second one.
    const who = (row.referrer ?? row.ref_id) !== undefined && <Who {...row} />
    return { at: row.at, order: 0, to: linkToRequest(row), view: { ...requestView(row), who } }
  })
  // All deliveries of a message are sorted by the time when the message was queued.
  const messages = deliveries.value.rows.filter(isAbout).map((row) => {
    return { at: row.at, order: 1, to: linkToDelivery(row), view: { ...deliveryView(row), who: undefined } }
  })
  const progress = user.progress.map((each) => ({ at: each.at, order: 2, to: each.key, view: progressView(each) }))
  // Newest first. Within a millisecond, the request came first, then messages, then progress.
  return [...calls, ...messages, ...progress].sort((one, other) => other.at - one.at || other.order - one.order)
}

const progressView = ({ at, xp, completed }: UserView['progress'][number]): RowView => ({
  at: <Time ms={at} />,
  state: <Badge tone="good">{`${xp < 0 ? '−' : '+'}${amount(Math.abs(xp))} XP`}</Badge>,
  name: completed.length > 0 ? `completed ${completed.join(', ')}` : 'XP changed',
  opensNothing: true,
})

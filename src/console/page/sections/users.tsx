import type { UserRow } from '../../protocol.ts'
import { useAnswer } from '../actions.ts'
import { campaigns, usersRevision } from '../live.ts'
import { SearchField } from '../parts/field.tsx'
import { Link } from '../parts/link.tsx'
import { Empty, Panel, Pending } from '../parts/panel.tsx'
import { amount, Hidden, Name, Text } from '../parts/text.tsx'
import { parameter, pathOf, setParameter } from '../route.ts'

/** Enough to look through; whoever seeks one of thousands types a part of their name. */
const LIMIT = 100

export function Users({ brief = false, current }: { brief?: boolean; current?: string | undefined }) {
  const [first] = campaigns.value
  const wanted = parameter('pid')
  const campaign = campaigns.value.find(({ pid }) => pid === wanted) ?? first
  const find = brief ? '' : parameter('find')
  const filters = (campaigns.value.length > 1 || !brief) && (
    <>
      {campaigns.value.length > 1 && (
        <select
          aria-label="Campaign"
          value={campaign?.pid}
          onChange={({ currentTarget }) => setParameter('pid', currentTarget.value)}
        >
          {campaigns.value.map(({ pid, name }) => (
            <option key={pid} value={pid}>
              {name}
            </option>
          ))}
        </select>
      )}
      {!brief && (
        <SearchField
          label="Filter by account, name or team"
          value={find}
          onInput={(text) => setParameter('find', text)}
        />
      )}
    </>
  )
  return (
    <Panel title="Users" filters={filters} all={brief ? '/users' : undefined}>
      {campaign ? (
        <>
          <CampaignLine pid={campaign.pid} />
          <UserTable pid={campaign.pid} find={find} limit={brief ? 6 : LIMIT} current={current} />
        </>
      ) : (
        <Empty>There is no campaign. Load a seed that has one.</Empty>
      )}
    </Panel>
  )
}

function CampaignLine({ pid }: { pid: string }) {
  const campaign = campaigns.value.find((each) => each.pid === pid)
  if (!campaign) return null
  const tasks = campaign.items.filter(({ kind }) => kind === 'task').length
  const quests = campaign.items.filter(({ kind }) => kind === 'quest').length
  return (
    <p class="line">
      <Link to={pathOf('campaigns', pid)}>
        <Text>{campaign.name}</Text>
      </Link>
      <span class="muted">
        {tasks} tasks · {quests} quests · {amount(campaign.points)} XP
      </span>
    </p>
  )
}

interface TableProps {
  readonly pid: string
  readonly find: string
  readonly limit: number
  readonly current: string | undefined
}

function UserTable({ pid, find, limit, current }: TableProps) {
  const { value, error } = useAnswer('listUsers', { pid, find, limit }, usersRevision.value)
  const tasks =
    campaigns.value.find((each) => each.pid === pid)?.items.filter(({ kind }) => kind === 'task').length ?? 0
  if (!value) return <Pending error={error} />
  if (value.found === 0) return <Empty>{find ? 'Nobody fits the filter.' : 'Nobody has joined yet.'}</Empty>
  return (
    <>
      <ul class="rows">
        {value.users.map((user) => (
          <UserLine key={`${user.platform}/${user.account}`} user={user} tasks={tasks} current={current} />
        ))}
      </ul>
      {value.found > value.users.length && (
        <p class="more muted">
          {value.users.length} of {value.found}, by rank
        </p>
      )}
    </>
  )
}

function UserLine({ user, tasks, current }: { user: UserRow; tasks: number; current: string | undefined }) {
  const to = pathOf('users', user.pid, user.platform, user.account)
  return (
    <li class={to === current ? 'row current' : 'row'}>
      <Link to={to} class="row-link">
        <span class="rank muted" title={`rank ${user.rank}`}>
          {user.rank}
        </span>
        <span class="grow two-lines">
          <strong>
            <Name>{user.name}</Name>
          </strong>
          <span class="muted small-text">
            {user.account !== user.name && (
              <>
                <Name>{user.account}</Name> ·{' '}
              </>
            )}
            <Text>{user.platform}</Text>
            {user.team !== '' && (
              <>
                {' '}
                · <Text>{user.team}</Text>
              </>
            )}
          </span>
        </span>
        <progress value={user.completedTasks} max={Math.max(tasks, 1)} aria-label="Tasks completed" />
        <span class="number">
          {amount(user.total)}
          <Hidden> XP</Hidden>
        </span>
      </Link>
    </li>
  )
}

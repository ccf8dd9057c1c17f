import { type CampaignView, MAX_ROWS, type UserRow } from '../../protocol.ts'
import { useAnswer } from '../actions.ts'
import { campaigns, usersRevision } from '../live.ts'
import { Link } from '../parts/link.tsx'
import { Empty, Panel } from '../parts/panel.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { Table } from '../parts/table.tsx'
import { amount, count, Hidden, Name, Text } from '../parts/text.tsx'
import { parameter, pathOf, setParameter } from '../route.ts'

/** The users of a campaign, by rank. */
export function Users({ brief = false, current }: { brief?: boolean; current?: string | undefined }) {
  const [first] = campaigns.value
  const wanted = parameter('pid')
  const campaign = campaigns.value.find(({ pid }) => pid === wanted) ?? first
  const filters = (campaigns.value.length > 1 || !brief) && (
    <>
      {!brief && <SearchField label="Filter by account, name or team" />}
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
    </>
  )
  return (
    <Panel title="Users" filters={filters} all={brief ? '/users' : undefined}>
      {campaign ? (
        <>
          <p class="line">
            <Link to={pathOf('campaigns', campaign.pid)}>
              <Text>{campaign.name}</Text>
            </Link>
            <span class="muted">
              {count(numberOf(campaign, 'task'), 'task')} · {count(numberOf(campaign, 'quest'), 'quest')} ·{' '}
              {amount(campaign.points)} XP
            </span>
          </p>
          <UserTable
            campaign={campaign}
            find={brief ? '' : parameter('find')}
            limit={brief ? 6 : MAX_ROWS}
            current={current}
          />
        </>
      ) : (
        <Empty>There is no campaign. Load a seed that has one.</Empty>
      )}
    </Panel>
  )
}

const numberOf = ({ items }: CampaignView, wanted: 'task' | 'quest'): number =>
  items.filter(({ kind }) => kind === wanted).length

interface UserTableProps {
  readonly campaign: CampaignView
  readonly find: string
  readonly limit: number
  readonly current: string | undefined
}

const COLUMNS = { rank: 'Rank', name: 'Name', account: 'Account', team: 'Team', tasks: 'Tasks', xp: 'XP' }

function UserTable({ campaign, find, limit, current }: UserTableProps) {
  const { value, error } = useAnswer('listUsers', { pid: campaign.pid, find, limit }, usersRevision.value)
  if (!value) return <Empty>{error ?? 'Loading'}</Empty>
  if (value.found === 0) return <Empty>{find ? 'No user fits the filter.' : 'Nobody has joined yet.'}</Empty>
  const tasks = numberOf(campaign, 'task')
  return (
    <>
      <Table class="users" columns={COLUMNS} rows={value.users}>
        {(user, index) => {
          const to = pathOf('users', user.pid, user.platform, user.account)
          return <UserLine key={to} user={user} to={to} index={index} tasks={tasks} isCurrent={to === current} />
        }}
      </Table>
      {value.found > value.users.length && (
        <p class="more muted">
          The first {amount(value.users.length)} of {amount(value.found)}, by rank
        </p>
      )}
    </>
  )
}

interface UserLineProps {
  readonly user: UserRow
  readonly to: string
  readonly index: number
  readonly tasks: number
  readonly isCurrent: boolean
}

const UserLine = ({ user, to, index, tasks, isCurrent }: UserLineProps) => (
  <tr class={isCurrent ? 'current' : undefined} aria-rowindex={index + 2}>
    <td class="rank muted" title={user.isTied ? 'Other users have the same rank' : undefined}>
      {user.rank}
      {user.isTied && ' ='}
      {user.isTied && <Hidden> (shared)</Hidden>}
    </td>
    <td class="name">
      <Link to={to} class="opens">
        <Name>{user.name}</Name>
      </Link>
    </td>
    <td class="account muted">
      <Name>{user.account}</Name> · <Text>{user.platform}</Text>
    </td>
    <td class="team muted">
      <Text>{user.team}</Text>
    </td>
    <td class="tasks">
      {user.completedTasks} of {tasks}
    </td>
    <td class="xp">
      {amount(user.total)}
      <Hidden> XP</Hidden>
    </td>
  </tr>
)

import { useMemo } from 'preact/hooks'
import type { CampaignView, UserRow } from '../../protocol.ts'
import { useAction } from '../actions.ts'
import { service } from '../live.ts'
import { Link } from '../parts/link.tsx'
import { Empty, Panel } from '../parts/panel.tsx'
import { Rows, type RowView } from '../parts/rows.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { amount, count, Hidden, Name, OneLine, Text } from '../parts/text.tsx'
import { parameter, pathOf, setParameter } from '../route.ts'

const MAX_SHOWN = 10_000

/** The users of a campaign by rank. */
export function Users() {
  const { campaigns } = service.value
  const campaign = campaigns.find(({ pid }) => pid === parameter('pid')) ?? campaigns[0]
  const filters = (
    <>
      <SearchField label="Filter by user ID, name or team" />
      {campaigns.length > 1 && (
        <select
          aria-label="Campaign"
          value={campaign?.pid}
          onChange={({ currentTarget }) => setParameter('pid', currentTarget.value)}
        >
          {campaigns.map(({ pid, name }) => (
            <option key={pid} value={pid}>
              {name}
            </option>
          ))}
        </select>
      )}
    </>
  )
  return (
    <Panel title="Users" filters={filters}>
      {campaign ? (
        <>
          <p class="line">
            <Link to={pathOf('users', campaign.pid)} keepsFilters>
              <Text>{campaign.name}</Text>
            </Link>
            <span class="muted">
              {count(numberOf(campaign, 'task'), 'task')} · {count(numberOf(campaign, 'quest'), 'quest')} ·{' '}
              {amount(campaign.points)} XP
            </span>
          </p>
          <UserTable campaign={campaign} find={parameter('find')} />
        </>
      ) : (
        <Empty>There is no campaign. Load a seed with a campaign.</Empty>
      )}
    </Panel>
  )
}

const numberOf = ({ items }: CampaignView, wanted: 'task' | 'quest'): number =>
  items.filter(({ kind }) => kind === wanted).length

interface UserTableProps {
  readonly campaign: CampaignView
  readonly find: string
}

function UserTable({ campaign, find }: UserTableProps) {
  const tasks = numberOf(campaign, 'task')
  const view = useMemo(() => viewWith(tasks), [tasks])
  const { value, error } = useAction('listUsers', { pid: campaign.pid, find, limit: MAX_SHOWN }, service.value)
  if (!value) return <Empty>{error ?? 'Loading'}</Empty>
  if (value.found === 0) return <Empty>{find ? 'No user matches the filter.' : 'There are no users yet.'}</Empty>
  return (
    <>
      <Rows label="Users" class="users" headings={HEADINGS} rows={value.users} linkTo={linkTo} view={view} />
      {value.found > value.users.length && (
        <p class="more muted">
          The first {amount(value.users.length)} of {amount(value.found)}, by rank
        </p>
      )}
    </>
  )
}

const linkTo = ({ pid, platform, account }: UserRow): string => pathOf('users', pid, platform, account)

const HEADINGS = { state: 'Rank', name: 'Name', who: 'User ID', note: 'Platform, tasks and team', end: 'XP' }

const viewWith =
  (tasks: number) =>
  ({ rank, isTied, name, account, platform, team, completedTasks, total }: UserRow): RowView => ({
    state: isTied ? (
      <span title="Other users have the same rank">
        {rank} =<Hidden> (shared)</Hidden>
      </span>
    ) : (
      rank
    ),
    name,
    who: <Name>{account}</Name>,
    note: (
      <OneLine class="muted">{`${platform} · ${completedTasks} of ${count(tasks, 'task')}${team && ` · ${team}`}`}</OneLine>
    ),
    end: amount(total),
  })

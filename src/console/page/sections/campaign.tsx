import { service } from '../live.ts'
import { ItemsByKind } from '../parts/items-by-kind.tsx'
import { AbsentItem, Item } from '../parts/panel.tsx'
import { amount, count, Text } from '../parts/text.tsx'

/** A campaign with its tasks, quests and challenges. */
export function Campaign({ pid }: { pid: string }) {
  const campaign = service.value.campaigns.find((each) => each.pid === pid)
  if (!campaign) return <AbsentItem title={pid} back="/users" error="There is no such campaign." />
  return (
    <Item title={campaign.name} back="/users">
      <p class="line">
        <code>
          pid: <Text>{campaign.pid}</Text>
        </code>
        <span class="muted">
          {count(campaign.users, 'user')} · {amount(campaign.points)} XP
        </span>
      </p>
      <ItemsByKind
        items={campaign.items}
        notes={({ actions, deps }) => [actions?.join(', '), deps.length > 0 && `needs ${deps.join(', ')}`]}
      />
    </Item>
  )
}

import { campaigns } from '../live.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { ItemName, ItemsByKind } from '../parts/items-by-kind.tsx'
import { AbsentItem, Item } from '../parts/panel.tsx'
import { amount, count, Text } from '../parts/text.tsx'

/** The items of a campaign, with the IDs that calls want. */
export function Campaign({ pid }: { pid: string }) {
  const campaign = campaigns.value.find((each) => each.pid === pid)
  if (!campaign) return <AbsentItem title={pid} back="/users" error="There is no such campaign." />
  return (
    <Item
      title={campaign.name}
      back="/users"
      tools={<CopyButton text={`npx campaign-client types ${pid}`} label="Copy types command" />}
    >
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
        row={(item) => (
          <li class="row" key={item.id}>
            <span class="grow">
              <ItemName item={item} />
              {item.actions && (
                <span class="muted">
                  {' '}
                  · <Text>{item.actions.join(', ')}</Text>
                </span>
              )}
              {item.deps.length > 0 && (
                <span class="muted">
                  {' '}
                  · needs <Text>{item.deps.join(', ')}</Text>
                </span>
              )}
            </span>
            <span class="number muted">{amount(item.xp)} XP</span>
          </li>
        )}
      />
    </Item>
  )
}

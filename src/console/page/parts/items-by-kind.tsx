import type { ComponentChildren } from 'preact'
import type { ItemView } from '../../protocol.ts'
import { amount, Text } from './text.tsx'

const KINDS = [
  ['task', 'Tasks'],
  ['quest', 'Quests'],
  ['challenge', 'Challenges'],
] as const

interface ItemsByKindProps {
  readonly items: readonly ItemView[]
  /** Returns remarks on an item. `false` and `undefined` are not shown. */
  readonly notes: (item: ItemView) => readonly (string | false | undefined)[]
  /** Returns the IDs of the items that must be completed first. */
  readonly needs?: (item: ItemView) => readonly string[]
  /** Renders the beginning and the end of a row. */
  readonly start?: (item: ItemView) => ComponentChildren
  readonly end?: (item: ItemView) => ComponentChildren
}

/** The items of a campaign, in one list for each kind. */
export const ItemsByKind = ({ items, notes, needs, start, end }: ItemsByKindProps) => (
  <>
    {KINDS.map(([kind, title]) => {
      const ofKind = items.filter((item) => item.kind === kind)
      if (ofKind.length === 0) return null
      return (
        <div key={kind}>
          <h3 class="minor">{title}</h3>
          <ul class="lines">
            {ofKind.map((item) => (
              <li class="line-item" key={item.id}>
                {start?.(item)}
                <span class="grow">
                  <Text>{item.name}</Text>{' '}
                  <code class="muted">
                    <Text>{item.id}</Text>
                  </code>
                  <span class="muted">
                    <Text>
                      {notes(item)
                        .filter((note) => note !== undefined && note !== false)
                        .map((note) => ` · ${note}`)
                        .join('')}
                    </Text>
                  </span>
                  {needs && needs(item).length > 0 && (
                    <span class="needs">
                      {' '}
                      · needs <Text>{needs(item).join(', ')}</Text>
                    </span>
                  )}
                </span>
                <span class="number muted">{amount(item.xp)} XP</span>
                {end?.(item)}
              </li>
            ))}
          </ul>
        </div>
      )
    })}
  </>
)

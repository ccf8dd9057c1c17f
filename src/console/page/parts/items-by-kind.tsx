import type { ComponentChild } from 'preact'
import type { ItemView } from '../../protocol.ts'
import { Text } from './text.tsx'

const KINDS = [
  ['task', 'Tasks'],
  ['quest', 'Quests'],
  ['challenge', 'Challenges'],
] as const

interface ItemsByKindProps {
  readonly items: readonly ItemView[]
  /** A row of the list: a `li` with a key. */
  readonly row: (item: ItemView) => ComponentChild
}

/** The name and the ID of an item. */
export const ItemName = ({ item: { name, id } }: { item: ItemView }) => (
  <>
    <Text>{name}</Text>{' '}
    <code class="muted">
      <Text>{id}</Text>
    </code>
  </>
)

/** The items of a campaign, in a list for each kind. */
export const ItemsByKind = ({ items, row }: ItemsByKindProps) => (
  <>
    {KINDS.map(([kind, title]) => {
      const ofKind = items.filter((item) => item.kind === kind)
      if (ofKind.length === 0) return null
      return (
        <div key={kind}>
          <h3 class="minor">{title}</h3>
          <ul class="rows">{ofKind.map(row)}</ul>
        </div>
      )
    })}
  </>
)

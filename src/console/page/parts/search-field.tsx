import { parameter, setParameter } from '../route.ts'
import { HelpButton } from './help.tsx'

/** The filter of a list, kept in the address. The key `/` focuses it. */
export const SearchField = ({ label }: { label: string }) => (
  <div class="search">
    <input
      class="filter"
      type="search"
      aria-label={label}
      placeholder={`${label}  ( / )`}
      value={parameter('find')}
      autocomplete="off"
      spellcheck={false}
      onInput={({ currentTarget }) => setParameter('find', currentTarget.value)}
    />
    <HelpButton />
  </div>
)

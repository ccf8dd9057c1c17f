import { expect, test } from 'vitest'
import { parseSearch } from '../../src/console/page/search.ts'

test.each([
  { text: 'Ada  welcome', words: ['ada', 'welcome'] },
  { text: '"Ada L" 500', words: ['ada l', '500'] },
  { text: 'path:"a b"', words: ['path:a b'] },
  { text: 'is:new https://app', words: ['is:new', 'https://app'] },
])('$text searches for the words $words', ({ text, words }) => {
  expect(parseSearch(text)).toEqual({ words, conditions: [] })
})

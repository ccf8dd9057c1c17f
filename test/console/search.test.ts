import { expect, test } from 'vitest'
import { parseSearch, replaceUnknown } from '../../src/console/page/search.ts'

test.each([
  { text: 'Ada  welcome', words: ['ada', 'welcome'], unknown: [] },
  { text: '"Ada L" 500', words: ['ada l', '500'], unknown: [] },
  { text: 'Path:"a b"', words: ['path:a b'], unknown: ['Path:"a b"'] },
  { text: 'is:new https://app', words: ['is:new', 'https://app'], unknown: ['is:new'] },
  { text: 'status:abc user:', words: ['status:abc'], unknown: ['status:abc'] },
])('$text searches for the words $words and reports $unknown', ({ text, words, unknown }) => {
  expect(parseSearch(text)).toEqual({ words, conditions: [], unknown })
})

test('an unknown field is replaced by one that exists, with its value', () => {
  expect(replaceUnknown('ada stauts:500', 'stauts:500', 'status:')).toBe('ada status:500')
  expect(replaceUnknown('is:new', 'is:new', 'is:failed')).toBe('is:failed')
})

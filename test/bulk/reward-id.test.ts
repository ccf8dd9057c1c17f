import { InvalidRequestError } from 'campaign-client'
import { type RewardIdParts, rewardId } from 'campaign-client/bulk'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const parts: RewardIdParts = {
  pid: 'demo',
  address: '0x52908400098527886E0F7030069857D2E4169EE7',
  reason: 'launch party',
}

describe('the test vectors of the guide', () => {
  test.each([
    [parts, 'v1-7a03af3ae8af538af8aad61bd35874ee2989d024'],
    [{ ...parts, pid: 'summer', reason: 'quiz 7, second prize' }, 'v1-236969d3c4a534413f30cd3e5bbbfe0da3d5d124'],
    [{ ...parts, reason: 'Café ☕' }, 'v1-a8d97941060500becd2f05c49c10ae16d19617a4'],
  ])('%j', (given, id) => {
    expect(rewardId(given)).toBe(id)
  })
})

describe('inputs that give the same id', () => {
  test.each([
    ['another letter case of the address', { address: parts.address.toLowerCase() }, {}],
    ['upper case in the address', { address: `0x${parts.address.slice(2).toUpperCase()}` }, {}],
    ['white space around the reason', { reason: ' \t\u00a0launch party\r\n' }, {}],
    ['another Unicode form of the reason', { reason: 'fe\u0301te' }, { reason: 'f\u00e9te' }],
    ['extra fields', { xp: 250 }, {}],
  ])('%s', (_, one, other) => {
    expect(rewardId({ ...parts, ...one })).toBe(rewardId({ ...parts, ...other }))
  })
})

describe('inputs that give different ids', () => {
  test.each([
    ['another campaign', { pid: 'Demo' }],
    ['another wallet', { address: parts.address.replace('7', '8') }],
    ['another letter case of the reason', { reason: 'Launch party' }],
    ['more white space within the reason', { reason: 'launch  party' }],
    ['a compatibility character in the reason', { reason: 'launch party ①' }],
  ])('%s', (_, changes) => {
    expect(rewardId({ ...parts, ...changes })).not.toBe(rewardId(parts))
  })

  test('different parts never give the same id', () => {
    const text = fc.string({ minLength: 1, maxLength: 6, unit: fc.constantFrom('a', ',', ':', '1', '2', '\u0000') })
    fc.assert(
      fc.property(text, text, text, text, (pid, reason, otherPid, otherReason) => {
        fc.pre(pid !== otherPid || reason.trim() !== otherReason.trim())
        fc.pre(reason.trim() !== '' && otherReason.trim() !== '')
        expect(rewardId({ ...parts, pid, reason })).not.toBe(rewardId({ ...parts, pid: otherPid, reason: otherReason }))
      }),
    )
  })
})

describe('invalid parts are refused', () => {
  test.each([
    ['pid', { ...parts, pid: '' }],
    ['address', { ...parts, address: '0x52' }],
    ['reason', { ...parts, reason: ' \n' }],
    ['reason', { ...parts, reason: undefined }],
    ['reason', { ...parts, reason: '\ud800' }],
  ])('%s', (name, given) => {
    expect(() => rewardId(given as RewardIdParts)).toThrow(InvalidRequestError)
    expect(() => rewardId(given as RewardIdParts)).toThrow(new RegExp(`^rewardId: ${name}[ :]`))
  })

  test('no parts', () => {
    expect(() => rewardId(undefined as never)).toThrow(InvalidRequestError)
  })
})

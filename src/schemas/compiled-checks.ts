// Written by `npm run generate compiled-checks` from the schemas in src/endpoints.
// A test compares the results of these functions with those of zod.
// zod can compile schemas at runtime only with `new Function`, which Workers forbid.
import { isMetadata } from './fields.ts'

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown): boolean => typeof value === 'string'
const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value)

/** Whether the value fits the schema `taskEntry`. */
function isTaskEntry(value: unknown): boolean {
  return (
    isObject(value) &&
    isText(value.id) &&
    isText(value.name) &&
    isNumber(value.xp) &&
    isNumber(value.xp_mul) &&
    (value.meta === undefined || isMetadata(value.meta)) &&
    isText(value.status)
  )
}

function isTaskEntryList(value: unknown): boolean {
  if (!Array.isArray(value)) return false
  for (const item of value) if (!isTaskEntry(item)) return false
  return true
}

function isTextList(value: unknown): boolean {
  if (!Array.isArray(value)) return false
  for (const item of value) if (!isText(item)) return false
  return true
}

/** Whether the value fits the schema `questEntry`. */
function isQuestEntry(value: unknown): boolean {
  return (
    isObject(value) &&
    isText(value.id) &&
    isText(value.name) &&
    isNumber(value.xp) &&
    isNumber(value.xp_mul) &&
    (value.meta === undefined || isMetadata(value.meta)) &&
    isText(value.status) &&
    isTextList(value.actions)
  )
}

function isQuestEntryList(value: unknown): boolean {
  if (!Array.isArray(value)) return false
  for (const item of value) if (!isQuestEntry(item)) return false
  return true
}

/** Whether the value fits the schema `challengeEntry`. */
function isChallengeEntry(value: unknown): boolean {
  return (
    isObject(value) &&
    isText(value.id) &&
    isText(value.name) &&
    isNumber(value.xp) &&
    isNumber(value.xp_mul) &&
    (value.meta === undefined || isMetadata(value.meta)) &&
    isText(value.status)
  )
}

function isChallengeEntryList(value: unknown): boolean {
  if (!Array.isArray(value)) return false
  for (const item of value) if (!isChallengeEntry(item)) return false
  return true
}

/** Whether the value fits the schema `rewardEntry`. */
function isRewardEntry(value: unknown): boolean {
  return isObject(value) && isText(value.id) && isText(value.reward) && isText(value.type)
}

function isRewardEntryList(value: unknown): boolean {
  if (!Array.isArray(value)) return false
  for (const item of value) if (!isRewardEntry(item)) return false
  return true
}

/** Whether the value fits the schema `userProgress`. */
export function isUserProgress(value: unknown): boolean {
  return (
    isObject(value) &&
    isText(value.id) &&
    isText(value.user_id) &&
    isText(value.name) &&
    isTaskEntryList(value.actions) &&
    isQuestEntryList(value.quests) &&
    isChallengeEntryList(value.challenges) &&
    isRewardEntryList(value.rewards) &&
    isNumber(value.total) &&
    isNumber(value.xp) &&
    isNumber(value.ref_xp) &&
    isNumber(value.ugc_xp) &&
    isNumber(value.xp_mul) &&
    isNumber(value.rank) &&
    isText(value.team)
  )
}

// Written by `npm run generate compiled-checks` from the schemas of src/endpoints, which stay the truth: a test holds both to the
// same verdict. zod makes such code in the running process, with `new Function`, which content security policies and
// Workers forbid.
import { isMetadata } from './fields.ts'

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown): boolean => typeof value === 'string'
const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value)

/** Whether a value is one that the schema `taskEntry` reads, as it is. */
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

/** Whether a value is one that the schema `questEntry` reads, as it is. */
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

/** Whether a value is one that the schema `challengeEntry` reads, as it is. */
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

/** Whether a value is one that the schema `rewardEntry` reads, as it is. */
function isRewardEntry(value: unknown): boolean {
  return isObject(value) && isText(value.id) && isText(value.reward) && isText(value.type)
}

function isRewardEntryList(value: unknown): boolean {
  if (!Array.isArray(value)) return false
  for (const item of value) if (!isRewardEntry(item)) return false
  return true
}

/** Whether a value is one that the schema `userProgress` reads, as it is. */
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

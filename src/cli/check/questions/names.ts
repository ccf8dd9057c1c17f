import { randomUUID } from 'node:crypto'
import { isRecord } from '../../../shared/type-checks.ts'
import { dataOf, isReply, type Outcome } from '../probe.ts'
import {
  asAssumed,
  type Check,
  type CheckArguments,
  type CheckFinding,
  cannotTell,
  differs,
  noData,
  type QueryNames,
  type Question,
  READS,
  type ReadOperation,
} from '../question.ts'

/** Maximum number of sets of names to try, including the assumed set. */
const MAX_SETS = 5
const PID_NAMES = ['id', 'campaign_id', 'campaign', 'cid']

/** A read with undocumented query names. */
interface ReadWithAssumedNames {
  readonly operation: ReadOperation
  readonly needs?: readonly (keyof CheckArguments)[]
  /** Sets to try in addition to the sets with other names for `pid`. */
  readonly others?: readonly QueryNames[]
  /** Returns whether the data proves that the service has read the arguments. */
  readonly isProof: (data: Record<string, unknown>, args: CheckArguments) => boolean
}

const READS_WITH_ASSUMED_NAMES: readonly ReadWithAssumedNames[] = [
  { operation: 'getCampaignInfo', isProof: ({ id }, { pid }) => id === pid },
  { operation: 'getCampaignPoints', isProof: ({ id }, { pid }) => id === pid },
  {
    operation: 'getUserProfiles',
    needs: ['account', 'platform'],
    others: [{ account: 'user' }, { account: 'address' }],
    isProof: ({ profiles }, { account }) =>
      Array.isArray(profiles) && profiles.some((profile) => isRecord(profile) && profile.account === account),
  },
  {
    operation: 'getInviteCode',
    needs: ['code', 'account'],
    others: [{ code: 'invite_code' }, { code: 'invite' }],
    isProof: ({ used_by }, { account }) => Array.isArray(used_by) && used_by.includes(account),
  },
]

/**
 * Returns the sets to try, in this order: the assumed set, sets with the name for `pid` that another read proved, sets with
 * other names for `pid`.
 */
function setsToTry({ others = [] }: ReadWithAssumedNames, { queryNames }: Check): readonly QueryNames[] {
  const proven = [...queryNames.values()].find(({ pid }) => pid !== undefined)?.pid
  const known: QueryNames = proven === undefined ? {} : { pid: proven }
  const pids = PID_NAMES.filter((name) => name !== proven).map((pid) => ({ pid }))
  const sets = [known, ...others.map((names) => ({ ...known, ...names })), ...pids]
  return (proven === undefined ? sets : [{}, ...sets]).slice(0, MAX_SETS)
}

function isProven({ isProof }: ReadWithAssumedNames, outcome: Outcome, args: CheckArguments): boolean {
  const data = dataOf(outcome)
  return isRecord(data) && isProof(data, args)
}

/** Tries sets of names until one is proven. Records that set in `check`. */
async function findNames(read: ReadWithAssumedNames, check: Check): Promise<CheckFinding> {
  const { operation } = read
  let reason: string | undefined
  for (const names of setsToTry(read, check)) {
    const isAssumed = Object.keys(names).length === 0
    const outcome = isAssumed ? await check.read(operation) : await check.send(operation, { names })
    if (!isReply(outcome)) return noData(outcome)
    if (!isProven(read, outcome, check.args)) continue
    reason = await reasonAgainst(read, names, check)
    if (reason !== undefined) continue
    if (isAssumed) return asAssumed()
    check.queryNames.set(operation, names)
    check.reads.set(operation, outcome)
    const setting = Object.entries(names).map(([name, sent]) => `${name}: '${sent}'`)
    const advice = `set queryNames: { ${operation}: { ${setting.join(', ')} } }, or use the client options of a saved profile`
    return differs(Object.values(names).join(', '), advice)
  }
  return cannotTell(reason ?? 'no set of names returned data for the arguments')
}

/** Sends the read again with a nonexistent value for each argument in turn. Returns a reason if the names are not proven. */
async function reasonAgainst(read: ReadWithAssumedNames, names: QueryNames, check: Check): Promise<string | undefined> {
  for (const argument of READS[read.operation]) {
    const control = await check.send(read.operation, { names, values: { [argument]: `none-${randomUUID()}` } })
    if (!isReply(control)) return control.reason
    if (isProven(read, control, check.args)) return `another ${argument} gives the same response`
  }
  return undefined
}

export const names: readonly Question[] = READS_WITH_ASSUMED_NAMES.map(
  (read): Question<CheckFinding> => ({
    id: `names.${read.operation}`,
    text: `query names of ${read.operation}`,
    assumed: READS[read.operation].join(', '),
    needs: read.needs ?? [],
    ask: (check) => findNames(read, check),
    judge: (_, finding) => finding,
  }),
)

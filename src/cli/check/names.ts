import { randomUUID } from 'node:crypto'
import { isRecord } from '../../shared/types.ts'
import { dataOf, isReply, type Outcome } from './probe.ts'
import {
  asAssumed,
  type Check,
  type CheckArguments,
  cannotTell,
  differs,
  type Finding,
  noData,
  type QueryNames,
  type Question,
  READS,
  type ReadOperation,
} from './question.ts'

/** The assumed names, and four other sets. */
const MAX_SETS = 5
const PID_NAMES = ['id', 'campaign_id', 'campaign', 'cid']

/** A read whose query names the interface does not give. */
interface OpenRead {
  readonly operation: ReadOperation
  readonly needs?: readonly (keyof CheckArguments)[]
  /** Sets that the service might use in place of the assumed names, besides those for `pid`. */
  readonly others?: readonly QueryNames[]
  /** Whether data shows that the service has read the argument. */
  readonly identifies: (data: Record<string, unknown>, args: CheckArguments) => boolean
}

const OPEN_READS: readonly OpenRead[] = [
  { operation: 'getCampaignInfo', identifies: ({ id }, { pid }) => id === pid },
  { operation: 'getCampaignPoints', identifies: ({ id }, { pid }) => id === pid },
  {
    operation: 'getUserProfiles',
    needs: ['account', 'platform'],
    others: [{ account: 'user' }, { account: 'address' }],
    identifies: ({ profiles }, { account }) =>
      Array.isArray(profiles) && profiles.some((profile) => isRecord(profile) && profile.account === account),
  },
  {
    operation: 'getInviteCode',
    needs: ['code', 'account'],
    others: [{ code: 'invite_code' }, { code: 'invite' }],
    identifies: ({ used_by }, { account }) => Array.isArray(used_by) && used_by.includes(account),
  },
]

/** Returns the sets to try. A name of `pid` that another read has proved comes right after the assumed set. */
function setsToTry({ others = [] }: OpenRead, { queryNames }: Check): readonly QueryNames[] {
  const proved = [...queryNames.values()].find(({ pid }) => pid !== undefined)?.pid
  const known: QueryNames = proved === undefined ? {} : { pid: proved }
  const pids = PID_NAMES.filter((name) => name !== proved).map((pid) => ({ pid }))
  const sets = [known, ...others.map((names) => ({ ...known, ...names })), ...pids]
  return (proved === undefined ? sets : [{}, ...sets]).slice(0, MAX_SETS)
}

function isIdentified({ identifies }: OpenRead, outcome: Outcome, args: CheckArguments): boolean {
  const data = dataOf(outcome)
  return isRecord(data) && identifies(data, args)
}

/** Tries sets of names until one is proved, and records it. */
async function findNames(read: OpenRead, check: Check): Promise<Finding> {
  const { operation } = read
  let doubt: string | undefined
  for (const names of setsToTry(read, check)) {
    const isAssumed = Object.keys(names).length === 0
    const outcome = isAssumed ? await check.read(operation) : await check.send(operation, { names })
    if (!isReply(outcome)) return noData(outcome)
    if (!isIdentified(read, outcome, check.args)) continue
    doubt = await doubtAbout(read, names, check)
    if (doubt !== undefined) continue
    if (isAssumed) return asAssumed()
    check.queryNames.set(operation, names)
    check.reads.set(operation, outcome)
    const setting = Object.entries(names).map(([name, sent]) => `${name}: '${sent}'`)
    const advice = `give queryNames: { ${operation}: { ${setting.join(', ')} } }, or spread the client of a saved profile`
    return differs(Object.values(names).join(', '), advice)
  }
  return cannotTell(doubt ?? 'no set of names gave an answer that shows the arguments')
}

/** Sends the same call with values that do not exist, one argument at a time. Returns why the names are not proved. */
async function doubtAbout(read: OpenRead, names: QueryNames, check: Check): Promise<string | undefined> {
  for (const argument of READS[read.operation]) {
    const control = await check.send(read.operation, { names, values: { [argument]: `none-${randomUUID()}` } })
    if (!isReply(control)) return control.reason
    if (isIdentified(read, control, check.args)) return `another ${argument} gives the same answer`
  }
  return undefined
}

export const names: readonly Question[] = OPEN_READS.map(
  (read): Question<Finding> => ({
    id: `names.${read.operation}`,
    text: `query names of ${read.operation}`,
    assumed: READS[read.operation].join(', '),
    needs: read.needs ?? [],
    ask: (check) => findNames(read, check),
    judge: (_, finding) => finding,
  }),
)

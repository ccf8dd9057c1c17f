import { randomUUID } from 'node:crypto'
import { isRecord } from '../../shared/types.ts'
import { dataOf, isReply, type Outcome } from './probe.ts'
import {
  argumentsOf,
  asAssumed,
  type Check,
  type CheckArguments,
  cannotTell,
  differs,
  type Finding,
  type Group,
  type Names,
  noData,
  type Question,
  type ReadOperation,
} from './question.ts'

const MAX_OTHER_SETS = 4
const PID_NAMES = ['id', 'campaign_id', 'campaign', 'cid']

/** Whether data shows that the service has read the argument that identifies it. */
const IDENTIFIES: Partial<Record<ReadOperation, (data: Record<string, unknown>, args: CheckArguments) => boolean>> = {
  getCampaignInfo: ({ id }, { pid }) => id === pid,
  getCampaignPoints: ({ id }, { pid }) => id === pid,
  getUserProfiles: ({ profiles }, { account }) =>
    Array.isArray(profiles) && profiles.some((profile) => isRecord(profile) && profile.account === account),
  getInviteCode: ({ used_by }, { account }) => Array.isArray(used_by) && used_by.includes(account),
}

/** At most four sets of names besides the assumed one. A name of `pid` that another endpoint uses comes first. */
function otherSets(operation: ReadOperation, check: Check): readonly Names[] {
  const learned = [...check.queryNames.values()].flatMap(({ pid }) => pid ?? [])
  const pids = [...new Set([...learned, ...PID_NAMES])].map((pid): Names => ({ pid }))
  const [known, ...otherPids] = learned.length > 0 ? pids : [{}, ...pids]
  const own: readonly Names[] =
    operation === 'getUserProfiles'
      ? [{ account: 'user' }, { account: 'address' }]
      : operation === 'getInviteCode'
        ? [{ code: 'invite_code' }, { code: 'invite' }]
        : []
  const withKnown = [...(learned.length > 0 ? [known ?? {}] : []), ...own.map((names) => ({ ...known, ...names }))]
  return [...withKnown, ...otherPids].slice(0, MAX_OTHER_SETS)
}

function identifies(operation: ReadOperation, outcome: Outcome | undefined, args: CheckArguments): boolean {
  const data = dataOf(outcome)
  return isRecord(data) && IDENTIFIES[operation]?.(data, args) === true
}

/** Sends the same call with values that do not exist, one argument at a time. Returns why the names are not proved. */
async function doubt(operation: ReadOperation, names: Names, check: Check): Promise<string | undefined> {
  for (const argument of argumentsOf(operation)) {
    const control = await check.send(operation, names, { [argument]: `none-${randomUUID()}` })
    if (!isReply(control)) return control.reason
    if (identifies(operation, control, check.args)) return `another ${argument} gives the same answer`
  }
  return undefined
}

function namesOf(operation: ReadOperation, needs: readonly (keyof CheckArguments)[]): Question {
  const findings = new WeakMap<Check, Finding>()
  return {
    id: `names.${operation}`,
    text: `query names of ${operation}`,
    assumed: argumentsOf(operation).join(', '),
    needs,
    async ask(check) {
      const first = await check.read(operation)
      if (!isReply(first)) return void findings.set(check, noData(first))
      let reason = identifies(operation, first, check.args) ? await doubt(operation, {}, check) : undefined
      if (identifies(operation, first, check.args) && reason === undefined) return void findings.set(check, asAssumed())
      for (const names of otherSets(operation, check)) {
        const outcome = await check.send(operation, names)
        if (!isReply(outcome)) {
          reason = outcome.reason
          break
        }
        if (!identifies(operation, outcome, check.args)) continue
        const doubtful = await doubt(operation, names, check)
        if (doubtful === undefined) {
          check.learn(operation, names, outcome)
          const setting = Object.entries(names)
            .map(([name, sent]) => `${name}: '${sent}'`)
            .join(', ')
          const advice = `give queryNames: { ${operation}: { ${setting} } }, or spread the client of a saved profile`
          return void findings.set(check, differs(Object.values(names).join(', '), advice))
        }
        reason = doubtful
      }
      findings.set(check, cannotTell(reason ?? 'no set of names gave an answer that shows the arguments'))
    },
    judge: (check) => findings.get(check) ?? cannotTell('it was not reached'),
  }
}

export const names: Group = {
  title: 'names',
  questions: [
    namesOf('getCampaignInfo', []),
    namesOf('getCampaignPoints', []),
    namesOf('getUserProfiles', ['account', 'platform']),
    namesOf('getInviteCode', ['code', 'account']),
  ],
}

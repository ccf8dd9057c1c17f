import { isReply, type Reply } from './probe.ts'
import { asAssumed, type Check, cannotTell, type Group } from './question.ts'

const READS = 10

const timed = new WeakMap<Check, readonly Reply[]>()

/** Told, but never compared and never saved. */
export const timing: Group = {
  title: 'timing',
  questions: [
    {
      id: 'timing.reads',
      text: 'time of a read',
      assumed: '',
      async ask(check) {
        const operation = check.workingRead()
        if (operation === undefined) return
        const replies: Reply[] = []
        for (let read = 0; read < READS; read++) {
          const outcome = await check.send(operation, check.queryNames.get(operation) ?? {})
          if (isReply(outcome)) replies.push(outcome)
        }
        timed.set(check, replies)
      },
      judge(check) {
        const took = (timed.get(check) ?? []).map(({ durationMs }) => durationMs).sort((a, b) => a - b)
        const [median, slowest] = [took[Math.floor(took.length / 2)], took.at(-1)]
        if (median === undefined || slowest === undefined) return cannotTell('no read was answered')
        return asAssumed(`median ${Math.round(median)} ms, slowest ${Math.round(slowest)} ms of ${took.length} reads`)
      },
    },
    {
      id: 'timing.clock',
      text: 'difference of the clocks',
      assumed: '',
      judge({ firstReply, firstReplyAt }) {
        const date = Date.parse(firstReply?.header('date') ?? '')
        if (Number.isNaN(date)) return cannotTell('the answers have no usable Date header')
        const seconds = Math.round((date - firstReplyAt) / 1_000)
        if (Math.abs(seconds) <= 1) return asAssumed('less than 2 s')
        return asAssumed(`the service is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead' : 'behind'}`)
      },
    },
  ],
}

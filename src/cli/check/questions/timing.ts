import { isReply } from '../probe.ts'
import { asAssumed, cannotTell, type Question } from '../question.ts'

const READ_COUNT = 10

const readTimes: Question<readonly number[]> = {
  id: 'timing.reads',
  text: 'time of a read',
  assumed: '',
  async ask(check) {
    const { workingRead } = check
    const times: number[] = []
    for (let read = 0; workingRead !== undefined && read < READ_COUNT; read++) {
      const outcome = await check.send(workingRead)
      if (isReply(outcome)) times.push(outcome.durationMs)
    }
    return times.sort((a, b) => a - b)
  },
  judge(_, times) {
    const [median, slowest] = [times[Math.floor(times.length / 2)], times.at(-1)]
    if (median === undefined || slowest === undefined) return cannotTell('no read got a response')
    return asAssumed(`median ${Math.round(median)} ms, slowest ${Math.round(slowest)} ms of ${times.length} reads`)
  },
}

const clock: Question = {
  id: 'timing.clock',
  text: 'difference between the clocks',
  assumed: '',
  judge({ firstReply }) {
    const date = Date.parse(firstReply?.header('date') ?? '')
    if (firstReply === undefined || Number.isNaN(date)) return cannotTell('the responses have no usable Date header')
    const seconds = Math.round((date - firstReply.receivedAt) / 1_000)
    if (Math.abs(seconds) <= 1) return asAssumed('less than 2 s')
    return asAssumed(`the service is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead' : 'behind'}`)
  },
}

/** These results are not compared with an earlier profile. */
export const timing: readonly Question[] = [readTimes, clock]

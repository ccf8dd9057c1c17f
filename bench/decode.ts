import * as z from 'zod/mini'
import { userProgress } from '../src/endpoints/get-user-progress.ts'
import { endpoints } from '../src/endpoints/index.ts'
import { AddressHint } from '../src/http/address-hint.ts'
import { decode } from '../src/http/answer.ts'
import { compare, type Group, OURS, type Subject } from './harness.ts'
import { answerWith } from './sample.ts'

const CASES = [
  { tasks: 10, times: 1_500, rounds: 12 },
  { tasks: 1_000, times: 64, rounds: 12, aims: { [OURS]: 1.25 } },
  { tasks: 10_000, times: 8, rounds: 12, aims: { [OURS]: 1.25 } },
]

/** What reading an answer costs. */
export default async function (rival: number): Promise<Subject> {
  const groups: Group[] = []
  for (const { tasks, ...plan } of CASES) {
    const title = `${tasks.toLocaleString('en').replace(',', ' ')} tasks`
    groups.push(await compare(contestants(tasks), rival, { ...plan, title, warmUp: 8 }))
  }
  return {
    title: 'Decoding',
    about:
      'CPU time from the text of an answer to user progress that has been checked, parsing included, beside ' +
      '`JSON.parse` alone. campaign-client reads the envelope and runs checks that were generated from the schema ' +
      'before the package was built; `z.compile` generates them in the running process, which content security ' +
      'policies and Workers forbid.',
    measure: 'ratio',
    groups,
  }
}

function contestants(tasks: number) {
  const text = answerWith(tasks)
  const answer = { status: 200, header: () => null, text, complete: true }
  const context = {
    secrets: [],
    tokenHint: () => '',
    addressHint: new AddressHint('https://service.example/api/v1/'),
    report: undefined,
  }
  const compiled = z.compile(userProgress, { strict: true })
  const readers: Record<string, () => unknown> = {
    'JSON.parse': () => JSON.parse(text).data,
    [OURS]: () => decode(endpoints.getUserProgress, answer, context),
    'zod/mini': () => userProgress.parse(JSON.parse(text).data),
    'zod/mini, z.compile': () => compiled.parse(JSON.parse(text).data),
  }
  return Object.entries(readers).map(([name, read]) => ({
    name,
    run: (times: number) => {
      for (let time = 0; time < times; time++) read()
    },
  }))
}

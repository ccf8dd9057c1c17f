import { type UserProgress, userActivity, userProgress } from 'campaign-client/schemas'
import * as z from 'zod'

const stored = z.object({
  progress: userProgress,
  all: z.array(userProgress),
  last: z.optional(userActivity),
  checked: z.custom<UserProgress>((value) => userProgress.safeParse(value).success),
})
export type Stored = z.infer<typeof stored>
export const nameOf = ({ progress, checked }: Stored): string => progress.user_id ?? checked.user_id ?? ''

const { error } = stored.safeParse({ all: [], checked: null })
console.log(error?.issues.map(({ path }) => path.join('.')).join(' '))

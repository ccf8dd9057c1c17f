import * as z from 'zod/mini'

/** The use of an invite code. Interface: Resources, Invite code status. */
export interface InviteCode {
  /** Accounts that used the code. */
  used_by: string[]
}

/** Schema of {@link InviteCode}. Unknown fields are kept. */
export const inviteCode = z.looseObject({ used_by: z.array(z.string()) })

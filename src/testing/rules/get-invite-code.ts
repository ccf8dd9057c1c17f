import { badRequest } from '../http/http-error.ts'
import { requireCampaign } from './require.ts'
import type { Rule } from './rule.ts'

export const getInviteCode: Rule<'getInviteCode'> = ({ code, pid }, context) => {
  const usedBy = requireCampaign(pid, context).inviteCodes.get(code)
  if (!usedBy) throw badRequest(`there is no invite code "${code}" in the campaign`)
  return { used_by: usedBy }
}

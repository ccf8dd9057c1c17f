/** The verdicts of awards, in the order of the summaries. */
export const VERDICTS = ['awarded', 'alreadyAwarded', 'unconfirmed', 'rejected', 'indeterminate'] as const

/** Of the states other than `ok`, only `missing` still lets the daemon become ready. */
export const sourceStates = ['ok', 'missing', 'busy', 'corrupt', 'unreadable', 'refused'] as const
export type SourceState = (typeof sourceStates)[number]

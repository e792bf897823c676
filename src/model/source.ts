/** `missing` alone does not keep the daemon from being ready. */
export const sourceStates = ['ok', 'missing', 'busy', 'corrupt', 'unreadable', 'refused'] as const
export type SourceState = (typeof sourceStates)[number]

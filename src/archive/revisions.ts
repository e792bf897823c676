/** No chat is ever written so often. */
const REWRITTEN = 2 ** 52

/**
 * What a run says in a revision's place once a purge wrote the object anew: one that no mirror has, so that what a mirror
 * holds is compared anew by its next run, and that yet tells which state is the newer one.
 */
export const rewrittenRevision = (revision: number): number => (revision % REWRITTEN) + REWRITTEN

/** Of two states that one mirror archived of a chat, be they as they were archived or rewritten. */
export const isNewer = (one: number, other: number): boolean => one % REWRITTEN > other % REWRITTEN

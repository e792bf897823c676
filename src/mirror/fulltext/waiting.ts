import { countBacklog, indexBacklog } from './backlog.ts'
import { countUndigested, digestBacklog } from '../digests/digest-backlog.ts'
import type { Mirror } from '../open.ts'
import { countUnlisted, listSome } from './unlisted.ts'

/** What was left for later: messages whose terms are to be listed, messages to be found, chats to be counted. */
export const countWaiting = (db: Mirror): number => countUnlisted(db) + countBacklog(db) + countUndigested(db)

/** Works off some of it, in one transaction, what is asked for first before the rest. @returns how many; 0 when none waits */
export const workOffSome = (db: Mirror): number => listSome(db) || indexBacklog(db) || digestBacklog(db)

import type { Mirror } from '../../../../mirror/open.ts'
import { listRecentChats } from '../../../../mirror/sources/source-state.ts'
import type { ChatId } from '../../../../model/ids.ts'

const CHATS_MAX = 50
const DAY_MS = 86_400_000

/** The chats at which the user is at work, the last active first: at these a nudge looks, and a comparison of their values. */
export const listRecent = (mirror: Mirror, source: number, nowMs: number): ChatId[] =>
  listRecentChats(mirror, source, nowMs - DAY_MS, CHATS_MAX)

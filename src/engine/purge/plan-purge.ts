import type { PurgeTargets } from '../../mirror/purge/find-targets.ts'
import { countTargets, isKnown } from '../../mirror/purge/count-targets.ts'
import type { PurgeScope } from '../../mirror/purge/scope.ts'
import type { Mirror } from '../../mirror/open.ts'
import type { MirrorPlan } from './purge-orders.ts'

/** So many chats are told one by one. */
const CHATS_MAX = 100

/** What a person is told of what would go. */
export function tellPlan(
  db: Mirror,
  scope: PurgeScope,
  targets: PurgeTargets,
  setAside: readonly string[],
): MirrorPlan {
  const chats = countTargets(db, targets)
  return {
    chats: chats.slice(0, CHATS_MAX).map(({ id, title, isWhole, messages }) => ({ id, title, isWhole, messages })),
    chatCount: chats.length,
    wholeChatIds: [...targets.chatIds],
    messages: chats.reduce((sum, { messages }) => sum + messages, 0),
    inCursor: chats.reduce((sum, { live }) => sum + live, 0),
    facts: [...targets.facts.values()].reduce((sum, texts) => sum + texts.size, 0),
    setAside,
    unknownChats: (scope.chatIds ?? []).filter((id) => !isKnown(db, id)),
  }
}

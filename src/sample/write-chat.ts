import { chatRow } from './chat-row.ts'
import type { ChatPlan } from './chat-row.ts'
import type { Store } from './cursor-home.ts'
import { messageRow } from './message-row.ts'

/** Each so-many-th message is written twice, as after streaming: its row then comes after its neighbours'. */
const REWRITTEN_EVERY = 5

export function writeChat(store: Store, plan: ChatPlan): void {
  store.chat(plan.id, plan.isDeleted ? null : chatRow(plan))
  const isSplit = plan.shape === 'split' || plan.shape === 'headerless'
  const apart = isSplit ? [...plan.messages, ...plan.orphans] : []
  const again = apart.filter((_, index) => index % REWRITTEN_EVERY === 1)
  for (const message of [...apart, ...again]) {
    store.message(plan.id, message.id, message.id === plan.emptiedId ? null : messageRow(message))
  }
}

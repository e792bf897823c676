import type { EventHub } from '../server/event-hub.ts'
import type { StepNews } from '../../engine/writer/messages.ts'

/** Tells who listens what a step of a pass has written. */
export function publishProgress(hub: EventHub, { messages, chatIds, losses, moreLosses }: StepNews): void {
  for (const { id, chatId } of messages) hub.send('message', { id, chatId })
  for (const id of chatIds) hub.send('chat', { id })
  for (const loss of losses) hub.send('loss', { ...loss })
  if (moreLosses > 0) hub.send('loss', { kind: 'more', chatId: null, messageId: null, count: moreLosses })
}

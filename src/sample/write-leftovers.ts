import type { Chance } from './chance.ts'
import type { ChatPlan } from './chat-row.ts'
import type { Store } from './cursor-home.ts'

/** What else lies in such a store: a draft, rows that are no chat, and what nobody but Cursor may read. */
export function writeLeftovers(store: Store, plans: readonly ChatPlan[], chance: Chance): void {
  store.chat('empty-state-draft', { _v: 14, text: 'unsent words' })
  store.chat(chance.uuid(), { _v: 16, createdAt: plans[0]?.createdAtMs, fullConversationHeadersOnly: [] })
  for (const { id } of plans) {
    store.put(`checkpointId:${id}:${chance.uuid()}`, { files: [], nonExistentFiles: [], newlyCreatedFolders: [] })
    const content = { role: 'system', content: 'You are an agent.', id }
    store.put(`agentKv:blob:${chance.hex(64)}`, Buffer.from(JSON.stringify(content)))
  }
  store.item('cursorAuth/accessToken', 'sample-token-that-nobody-may-read')
  store.item('workbench.colorTheme', 'Cursor Dark')
}

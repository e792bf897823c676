import { decodeItem } from '../../../src/indexer/sources/workspace-items/decode-item.ts'
import type { Piece, WholeChat } from '../../../src/indexer/open-safely/whole-store.ts'

export const rootUri = 'file:///yard/mill'
export const workspace = { id: 'w1', rootUri }

export const keys = {
  tabs: 'workbench.panel.aichat.view.aichat.chatdata',
  oldTabs: 'workbench.panel.chat.view.chat.chatdata',
  composers: 'composer.composerData',
  pane: 'workbench.panel.composerChatViewPane',
  prompts: 'aiService.prompts',
  chatRow: 'composerData:c1',
} as const

export const bytes = (value: unknown): Buffer =>
  Buffer.isBuffer(value) ? value : Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))

export function pieceOf(
  key: string,
  value: unknown,
  from = workspace as { id: string; rootUri: string | null },
): Piece {
  const given = bytes(value)
  return decodeItem({ key, octets: given.length, value: given }, from)
}

export function chatsOf(key: string, value: unknown): readonly WholeChat[] {
  const piece = pieceOf(key, value)
  if (piece.issue !== null) throw new Error(`expected no issue, got ${piece.issue}`)
  return piece.chats
}

/** Text parts only, as a person would read them. */
export const saidIn = (chat: WholeChat | undefined): string[] =>
  (chat?.messages ?? []).map(({ role, parts }) => {
    const texts = parts.flatMap((part) => (part.kind === 'text' ? part.text : []))
    return `${role}: ${texts.join(' ')}`
  })

export const evidenceOf = (piece: Piece): string[] =>
  piece.evidence.map(({ chatId, method, root }) => `${chatId} ${method} ${root.uri}`)

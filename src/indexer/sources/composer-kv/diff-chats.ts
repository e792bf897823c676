import * as held from '../../../mirror/source-state.ts'
import type { Mirror } from '../../../mirror/open.ts'
import type { ChatId } from '../../../model/ids.ts'
import type { OpenFile } from '../../cursor-file.ts'
import type { DirtyChat } from './dirty-chats.ts'
import { chatKey, messageRange, splitKey } from './keys.ts'
import { listChat, type RowRef } from './read.ts'

export interface ChatDiff {
  readonly chatId: ChatId
  /** Every row the store holds of the chat. */
  readonly refs: readonly RowRef[]
  readonly changed: readonly RowRef[]
  readonly goneKeys: readonly string[]
}

/** What of these chats must be read, and what of them is gone. The store is open once for all of them. */
export function diffChats(file: OpenFile, mirror: Mirror, source: number, chats: readonly DirtyChat[]): ChatDiff[] {
  const listed = file.read((db) => chats.map(({ chatId }) => listChat(db, chatId)))
  return chats.map((chat, index) => diffChat(mirror, source, chat, listed[index] ?? []))
}

function diffChat(
  mirror: Mirror,
  source: number,
  { chatId, suspects }: DirtyChat,
  listed: readonly RowRef[],
): ChatDiff {
  // The range of one chat's keys also holds those of a chat whose id goes on after a colon.
  const refs = listed.filter((ref) => isOfChat(ref.key, chatId))
  const known = new Map(listKnown(mirror, source, chatId).map((row) => [row.key, row.rowid]))
  const present = new Set(refs.map((ref) => ref.key))
  return {
    chatId,
    refs,
    changed: refs.filter((ref) => suspects.has(ref.key) || known.get(ref.key) !== ref.rowid),
    goneKeys: [...known.keys()].filter((key) => !present.has(key)),
  }
}

const isOfChat = (key: string, chatId: ChatId): boolean => splitKey(key)?.chatId === chatId

function listKnown(mirror: Mirror, source: number, chatId: ChatId): held.HeldRow[] {
  const { from, to } = messageRange(chatId)
  const messages = held.listHeldRows(mirror, source, from, to).filter((row) => isOfChat(row.key, chatId))
  const own = held.findHeldRow(mirror, source, chatKey(chatId))
  return own === undefined ? messages : [own, ...messages]
}

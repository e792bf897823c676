import * as held from '../../../../mirror/sources/source-state.ts'
import type { Mirror } from '../../../../mirror/open.ts'
import type { ChatId } from '../../../../model/ids.ts'
import type { OpenFile } from '../../../open-safely/cursor-file.ts'
import type { DirtyChat } from '../read/dirty-chats.ts'
import { chatKey, messageRange, ofChat } from '../keys.ts'
import { listChat, type RowRef } from '../read/read.ts'
import type { Verdict } from './deletion-policy.ts'

export interface ChatDiff {
  readonly chatId: ChatId
  /** Every row of the chat in the store. */
  readonly refs: readonly RowRef[]
  readonly changed: readonly RowRef[]
  readonly goneKeys: readonly string[]
  /** Rows that are missing but still count as held. */
  readonly missedKeys: readonly string[]
}

type Difference = Omit<ChatDiff, 'goneKeys' | 'missedKeys'> & { readonly missing: readonly held.HeldRow[] }

/** What must be read of these chats, and what is gone. The store is opened once for all of them. */
export function diffChats(
  file: OpenFile,
  mirror: Mirror,
  source: number,
  chats: readonly DirtyChat[],
  verdict: Verdict,
): ChatDiff[] {
  const listed = file.read((db) => chats.map(({ chatId }) => listChat(db, chatId)))
  const differences = chats.map((chat, index) => diffChat(mirror, source, chat, listed[index] ?? []))
  const isGone = verdict(differences.flatMap(({ missing }) => missing))
  return differences.map(({ missing, ...difference }) => ({
    ...difference,
    goneKeys: missing.filter(isGone).map(({ key }) => key),
    missedKeys: missing.filter((row) => !isGone(row)).map(({ key }) => key),
  }))
}

function diffChat(
  mirror: Mirror,
  source: number,
  { chatId, suspects }: DirtyChat,
  listed: readonly RowRef[],
): Difference {
  // The key range of one chat also contains keys of any chat whose id continues after a colon.
  const isOfChat = ofChat(chatId)
  const refs = listed.filter((ref) => isOfChat(ref.key))
  const rows = listKnown(mirror, source, chatId, isOfChat)
  const known = new Map(rows.map((row) => [row.key, row.rowid]))
  const present = new Set(refs.map((ref) => ref.key))
  return {
    chatId,
    refs,
    changed: refs.filter((ref) => suspects.has(ref.key) || known.get(ref.key) !== ref.rowid),
    missing: rows.filter(({ key }) => !present.has(key)),
  }
}

function listKnown(mirror: Mirror, source: number, chatId: ChatId, isOfChat: (key: string) => boolean): held.HeldRow[] {
  const { from, to } = messageRange(chatId)
  const messages = held.listHeldRows(mirror, source, from, to).filter((row) => isOfChat(row.key))
  const own = held.findHeldRow(mirror, source, chatKey(chatId))
  return own === undefined ? messages : [own, ...messages]
}

import { crc32 } from 'node:zlib'
import type { HeldMessage } from '../../../mirror/write/messages/message-columns.ts'
import type { ChatId, MessageId } from '../../../model/ids.ts'
import type { IssueReason } from '../../../model/issue.ts'
import { weighEvidence } from '../../projects/evidence.ts'
import type { Piece, WholeChat } from '../../open-safely/whole-store.ts'
import { madeId } from '../records/chat/whole-chats.ts'
import { decodeModelThread, type DecodedThread, type EntryIssue } from '../records/state/model-messages.ts'
import { evidenceOf, factsOf } from './decode-facts.ts'
import { keepTold, type KeptThread } from './keep-told.ts'
import type { StoreFile, StoreGroup } from './list-stores.ts'
import type { ReadStore, StoreReading } from './read-store.ts'

/** A store together with what came of reading it. */
export interface Look {
  readonly store: StoreFile
  readonly reading: Exclude<StoreReading, { readonly kind: 'busy' }>
}

/** A message has the same id in a longer thread, in another folder, and in a mirror made anew. */
export const nameMessage = (chatId: ChatId, blobKey: string, occurrence: number): MessageId =>
  madeId(['cli', chatId, blobKey, occurrence])

/** What the mirror holds live of a chat from this source, in its order. */
export type ListHeld = (chatId: ChatId) => readonly HeldMessage[]

/** Of the stores of one chat: a piece each, and one for each blob that could not be read. The fullest gives the chat. */
export function piecesOf({ stamp }: StoreGroup, looks: readonly Look[], listHeld: ListHeld): readonly Piece[] {
  const told = looks.map(tell)
  const giver = told.reduce<Told | null>((best, next) => (isFuller(next, best) ? next : best), null)
  return told.flatMap((each) => storePieces(each, each === giver ? listHeld : null, stamp))
}

interface Told {
  readonly store: StoreFile
  readonly read: ReadStore | null
  readonly thread: DecodedThread
  readonly issues: readonly EntryIssue[]
  /** Of the store as a whole: then what is known of its chat stays. */
  readonly issue: IssueReason | null
}

const silence: DecodedThread = { messages: [], outline: [], turnIds: new Set(), issues: [] }

function tell({ store, reading }: Look): Told {
  if (reading.kind === 'issue') return { store, read: null, thread: silence, issues: [], issue: reading.reason }
  const entries = reading.state?.entries ?? []
  const thread = decodeModelThread(entries, (key, occurrence) => nameMessage(store.chatId, key, occurrence))
  const issues = [...reading.issues, ...thread.issues]
  const ofBlobs = issues.find(({ key }) => key !== 'meta.json')
  // Nothing of it can be read: that is no chat without messages.
  const issue = thread.messages.length === 0 ? (ofBlobs?.reason ?? null) : null
  return { store, read: reading, thread, issues: issue === null ? issues : [], issue }
}

function isFuller(one: Told, other: Told | null): boolean {
  if (!givesChat(one)) return false
  const more = one.thread.messages.length - (other?.thread.messages.length ?? -1)
  const newer = (one.read?.sidecar.updatedAtMs ?? 0) - (other?.read?.sidecar.updatedAtMs ?? 0)
  return more > 0 || (more === 0 && newer > 0)
}

/** A window that was opened and closed again leaves a store, and says of it that nothing was said. */
const givesChat = ({ read, thread, issue }: Told): boolean =>
  issue === null && (thread.messages.length > 0 || read?.sidecar.hasConversation !== false)

/** @param listHeld null where another store gives the chat */
function storePieces({ store, read, thread, issues, issue }: Told, listHeld: ListHeld | null, stamp: number): Piece[] {
  const { key, octets } = store
  const gives = listHeld !== null && read !== null
  const own: Piece = {
    ...bare,
    key,
    octets: read?.octets ?? octets,
    // What a store is taken for depends on its place and on the other stores of its chat.
    checksum: read === null ? null : crc32(JSON.stringify([key, gives]), read.checksum),
    stamp,
    issue,
    ...(gives ? chatPiece(store, read, keepTold(thread, thread.turnIds.size === 0 ? [] : listHeld(store.chatId))) : {}),
  }
  return [own, ...issues.map((each) => blobPiece(key, each, stamp))]
}

const bare = { chats: [], evidence: [], heads: [] } as const

const blobPiece = (storeKey: string, { key, reason }: EntryIssue, stamp: number): Piece => ({
  ...bare,
  key: `${storeKey}#${key}`,
  octets: 0,
  checksum: crc32(reason),
  stamp,
  issue: reason,
})

/** The store that a piece is of, by its key. */
export const storeKeyOf = (pieceKey: string, isStore: (key: string) => boolean): string =>
  isStore(pieceKey) ? pieceKey : pieceKey.slice(0, Math.max(0, pieceKey.lastIndexOf('#')))

function chatPiece(
  { chatId, folderHash }: StoreFile,
  { facts, sidecar, state }: ReadStore,
  { messages, outline, keptIds }: KeptThread,
): Pick<Piece, 'chats' | 'evidence' | 'paths'> {
  const chat: WholeChat = { id: chatId, facts: factsOf(chatId, facts, sidecar, state), outline, messages, keptIds }
  const evidence = weighEvidence(chatId, evidenceOf(sidecar, state), { isOnly: true })
  const isHashed = evidence.length === 0 && folderHash !== null
  return { chats: [chat], evidence, paths: isHashed ? [{ chatId, uris: [`md5:${folderHash}`] }] : [] }
}

import { crc32 } from 'node:zlib'
import type { HeldMessage } from '../../../mirror/write/messages/messages.ts'
import type { ChatId, MessageId } from '../../../model/ids.ts'
import type { IssueReason } from '../../../model/issue.ts'
import { weighEvidence } from '../../projects/evidence.ts'
import type { Piece, WholeChat } from '../../open-safely/whole-store.ts'
import { madeId } from '../records/chat/whole-chats.ts'
import { decodeModelThread, type DecodedThread, type EntryIssue } from '../records/state/model-messages.ts'
import { evidenceOf, factsOf } from './decode-facts.ts'
import { keepMessages, type KeptThread } from './keep-messages.ts'
import type { StoreFile, StoreGroup } from './list-stores.ts'
import type { ReadStore, StoreReading } from './read-store.ts'

/** A store and the result of reading it. */
export interface StoreResult {
  readonly store: StoreFile
  readonly reading: Exclude<StoreReading, { readonly kind: 'busy' }>
}

/** The id of a message stays the same in a longer thread, in another folder, and in a rebuilt mirror. */
export const nameMessage = (chatId: ChatId, blobKey: string, occurrence: number): MessageId =>
  madeId(['cli', chatId, blobKey, occurrence])

/** The chat's live messages from this source in the mirror, in order. */
export type ListHeld = (chatId: ChatId) => readonly HeldMessage[]

/**
 * One piece for each store of a chat, and one for each blob that could not be read. The chat comes from the most
 * complete store.
 */
export function piecesOf({ stamp }: StoreGroup, results: readonly StoreResult[], listHeld: ListHeld): readonly Piece[] {
  const decoded = results.map(decodeStore)
  const chosen = decoded.reduce<DecodedStore | null>((best, next) => (isMoreComplete(next, best) ? next : best), null)
  return decoded.flatMap((each) => storePieces(each, each === chosen ? listHeld : null, stamp))
}

interface DecodedStore {
  readonly store: StoreFile
  readonly read: ReadStore | null
  readonly thread: DecodedThread
  readonly issues: readonly EntryIssue[]
  /** Of the whole store: the mirror then keeps what it has of the chat. */
  readonly issue: IssueReason | null
}

const emptyThread: DecodedThread = { messages: [], outline: [], turnIds: new Set(), issues: [] }

function decodeStore({ store, reading }: StoreResult): DecodedStore {
  if (reading.kind === 'issue') return { store, read: null, thread: emptyThread, issues: [], issue: reading.reason }
  const entries = reading.state?.entries ?? []
  const thread = decodeModelThread(entries, (key, occurrence) => nameMessage(store.chatId, key, occurrence))
  const issues = [...reading.issues, ...thread.issues]
  const ofBlobs = issues.find(({ key }) => key !== 'meta.json')
  // If nothing can be read, the chat must not count as a chat without messages.
  const issue = thread.messages.length === 0 ? (ofBlobs?.reason ?? null) : null
  return { store, read: reading, thread, issues: issue === null ? issues : [], issue }
}

function isMoreComplete(one: DecodedStore, other: DecodedStore | null): boolean {
  if (!hasChat(one)) return false
  const more = one.thread.messages.length - (other?.thread.messages.length ?? -1)
  const newer = (one.read?.sidecar.updatedAtMs ?? 0) - (other?.read?.sidecar.updatedAtMs ?? 0)
  return more > 0 || (more === 0 && newer > 0)
}

/** A window that was opened and closed again leaves a store that says that it has no conversation. */
const hasChat = ({ read, thread, issue }: DecodedStore): boolean =>
  issue === null && (thread.messages.length > 0 || read?.sidecar.hasConversation !== false)

/** @param listHeld null if the chat comes from another store */
function storePieces(
  { store, read, thread, issues, issue }: DecodedStore,
  listHeld: ListHeld | null,
  stamp: number,
): Piece[] {
  const { key, octets } = store
  const isChosen = listHeld !== null && read !== null
  const own: Piece = {
    ...bare,
    key,
    octets: read?.octets ?? octets,
    // How a store is used depends on its location and on the other stores of its chat.
    checksum: read === null ? null : crc32(JSON.stringify([key, isChosen]), read.checksum),
    stamp,
    issue,
    ...(isChosen
      ? chatPiece(store, read, keepMessages(thread, thread.turnIds.size === 0 ? [] : listHeld(store.chatId)))
      : {}),
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

/** The key of the store to which a piece belongs. */
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

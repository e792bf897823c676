import type {
  ChatWrite,
  EvidenceWrite,
  MessageDraft,
  MessageWrite,
  OwnRow,
  PathsWrite,
  RowIssue,
  RowState,
} from '../../../../mirror/write/batch.ts'
import { packMessage } from '../../../../mirror/write/messages/pack-message.ts'
import type { ChatId, MessageId } from '../../../../model/ids.ts'
import type { IssueReason } from '../../../../model/issue.ts'
import type { Role, Placeholder } from '../../../../model/message.ts'
import type { Outline } from '../../../../model/thread.ts'
import type { ChatDiff } from '../detect/diff-chats.ts'
import type { Page, RawRow } from './read.ts'
import { weighEvidence, type Evidence } from '../../../projects/evidence.ts'

/** One portion of what was read, ready for one transaction of the mirror. */
export interface Portion {
  readonly chats: readonly ChatWrite[]
  readonly rows: readonly RowState[]
  readonly goneKeys: readonly string[]
  readonly issues: readonly RowIssue[]
  readonly evidence: readonly EvidenceWrite[]
  readonly paths: readonly PathsWrite[]
  readonly bytesRead: number
  readonly longestReadMs: number
  readonly rowsDone: number
}

/** What the mirror already has, as far as reading depends on it. */
export interface Known {
  /** Whether the store once had this row and no longer has it. */
  isGoneRow(key: string): boolean
  roles(chatId: ChatId): ReadonlyMap<MessageId, Role>
}

export interface ChatDraft {
  readonly diff: ChatDiff
  ownRow: OwnRow
  /** What the chat's own row gives besides; null if it is not read yet, or is in a portion already. */
  besides: Besides | null
  toolData: ReadonlyMap<MessageId, unknown>
  roles: ReadonlyMap<MessageId, Role | null>
  readonly copies: Map<MessageId, MessageDraft>
  messages: MessageWrite[]
  vanished: MessageId[]
  placeholders: Map<MessageId, Placeholder | null>
  outline: Outline
  /** The last rowid of the new and changed messages. Messages of all chats are read in order of rowid. */
  readonly lastRowid: number
  /** How much of its messages was written. */
  written: 'nothing' | 'part' | 'all'
}

/** It is written together with the chat: a row counts as read only when its content is in the mirror. */
export interface Besides {
  readonly row: RowState
  readonly issues: readonly RowIssue[]
  readonly evidence: readonly EvidenceWrite[]
  readonly paths: readonly PathsWrite[]
}

export type Drafts = ReadonlyMap<ChatId, ChatDraft>

/** Collects what was read since the last portion. */
export class PortionDraft {
  readonly #drafts: Drafts
  readonly known: Known
  #isFirst = true
  #rows: RowState[] = []
  #issues: RowIssue[] = []
  readonly messageEvidence = new EvidenceBuffer()
  /** UTF-16 units of the collected messages. */
  length = 0
  #bytesRead = 0
  #longestReadMs = 0
  #rowsDone = 0

  constructor(drafts: Drafts, known: Known) {
    this.#drafts = drafts
    this.known = known
  }

  count(page: Page): void {
    this.#bytesRead += page.bytesRead
    this.#longestReadMs = Math.max(this.#longestReadMs, page.elapsedMs)
    this.#rowsDone += page.taken
    for (const ref of page.unreadable) {
      this.#issues.push({ key: ref.key, reason: 'unreadable-page', octets: null })
    }
  }

  addMessage(draft: ChatDraft, message: MessageDraft): void {
    const packed = packMessage(message)
    draft.messages.push(packed)
    this.length += packed.partsJson.length
  }

  noteRow(row: RawRow): void {
    this.#rows.push(rowState(row))
  }

  noteIssue(row: RawRow, reason: IssueReason): void {
    this.#issues.push(rowIssue(row, reason))
  }

  /**
   * Returns the portion and starts a new one. Deletions are in the first portion. Each chat's own row is in the portion
   * with its first messages, so that most chats are written once.
   * @param readTo the rowid up to which messages were read
   */
  take(readTo: number): Portion {
    const drafts = [...this.#drafts.values()].filter((draft) => hasNews(draft, readTo))
    const besides = drafts.flatMap((draft) => draft.besides ?? [])
    const chats = drafts.map((draft) => takeChat(draft, readTo))
    const portion: Portion = {
      chats,
      rows: [...besides.map(({ row }) => row), ...this.#rows],
      goneKeys: this.#isFirst ? [...this.#drafts.values()].flatMap((draft) => draft.diff.goneKeys) : [],
      issues: [...besides.flatMap(({ issues }) => issues), ...this.#issues],
      evidence: [...besides.flatMap(({ evidence }) => evidence), ...this.messageEvidence.take()],
      paths: besides.flatMap(({ paths }) => paths),
      bytesRead: this.#bytesRead,
      longestReadMs: this.#longestReadMs,
      rowsDone: this.#rowsDone,
    }
    this.#isFirst = false
    this.#rows = []
    this.#issues = []
    this.length = 0
    this.#bytesRead = 0
    this.#longestReadMs = 0
    this.#rowsDone = 0
    return portion
  }
}

export const rowState = ({ key, rowid, octets, checksum }: RawRow): RowState => ({ key, rowid, octets, checksum })

export const rowIssue = ({ key, octets }: RawRow, reason: IssueReason): RowIssue => ({ key, reason, octets })

function hasNews({ ownRow, messages, vanished, written, lastRowid }: ChatDraft, readTo: number): boolean {
  if (messages.length > 0 || vanished.length > 0 || ownRow.kind === 'gone') return true
  return lastRowid <= readTo && (ownRow.kind !== 'unread' || written === 'part')
}

function takeChat(draft: ChatDraft, readTo: number): ChatWrite {
  const { diff, ownRow, messages, vanished, placeholders, outline } = draft
  const isLast = draft.lastRowid <= readTo
  const isWhole = isLast && draft.written !== 'part'
  draft.written = isLast ? 'all' : 'part'
  // A deleted chat is marked in every portion: before one of its messages is written, there is no chat to mark.
  if (ownRow.kind !== 'gone') draft.ownRow = { kind: 'unread' }
  draft.besides = null
  draft.messages = []
  draft.vanished = []
  draft.placeholders = new Map()
  const write = { id: diff.chatId, ownRow, messages, vanished, placeholders }
  return isWhole ? write : { ...write, part: { isLast, outline } }
}

/**
 * Evidence from messages about where their chats belong. The messages of one chat mostly agree, so duplicates are
 * dropped.
 */
export class EvidenceBuffer {
  readonly #evidence = new Map<string, readonly EvidenceWrite[]>()

  add(chatId: ChatId, evidence: readonly Evidence[] = []): void {
    for (const one of evidence) {
      const name = `${chatId}\0${one.method}\0${one.uri}`
      // A chat can have been in two windows, so the evidence of one message does not replace that of another.
      if (!this.#evidence.has(name)) this.#evidence.set(name, weighEvidence(chatId, [one], { isOnly: false }))
    }
  }

  /** Returns the evidence collected since the last call. */
  take(): EvidenceWrite[] {
    const evidence = [...this.#evidence.values()].flat()
    this.#evidence.clear()
    return evidence
  }
}

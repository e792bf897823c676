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
import { EvidenceBuffer } from './evidence-buffer.ts'

/** What a portion of the reading yields: ready for one transaction of the mirror. */
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

/** What the mirror holds already, as far as reading depends on it. */
export interface Known {
  /** Whether the store held this row once and does no more. */
  isGoneRow(key: string): boolean
  roles(chatId: ChatId): ReadonlyMap<MessageId, Role>
}

export interface ChatDraft {
  readonly diff: ChatDiff
  ownRow: OwnRow
  toolData: ReadonlyMap<MessageId, unknown>
  roles: ReadonlyMap<MessageId, Role | null>
  readonly copies: Map<MessageId, MessageDraft>
  messages: MessageWrite[]
  vanished: MessageId[]
  placeholders: Map<MessageId, Placeholder | null>
  outline: Outline
  /** Of the messages that are new or changed; those of all chats are read in the order of their rowids. */
  readonly lastRowid: number
  /** What was handed on of its messages. */
  told: 'nothing' | 'part' | 'all'
}

export type Drafts = ReadonlyMap<ChatId, ChatDraft>

/** Collects what was read since the last portion was handed on. */
export class PortionDraft {
  readonly #drafts: Drafts
  readonly known: Known
  #isFirst = true
  rows: RowState[] = []
  issues: RowIssue[] = []
  evidence: EvidenceWrite[] = []
  paths: PathsWrite[] = []
  readonly told = new EvidenceBuffer()
  /** UTF-16 units of what is kept of the messages read. */
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
      this.issues.push({ key: ref.key, reason: 'unreadable-page', octets: null })
    }
  }

  addMessage(draft: ChatDraft, message: MessageDraft): void {
    const packed = packMessage(message)
    draft.messages.push(packed)
    this.length += packed.partsJson.length
  }

  noteRow({ key, rowid, octets, checksum }: RawRow): void {
    this.rows.push({ key, rowid, octets, checksum })
  }

  noteIssue({ key, octets }: RawRow, reason: IssueReason): void {
    this.issues.push({ key, reason, octets: reason === 'null-value' ? null : octets })
  }

  /**
   * Hands on what is there. What is gone is told with the first portion, and so is each own row with its first.
   * @param readTo the rowid up to which messages were read
   */
  take(readTo: number): Portion {
    const drafts = [...this.#drafts.values()].filter((draft) => hasNews(draft, readTo))
    const chats = drafts.map((draft) => takeChat(draft, readTo))
    const portion: Portion = {
      chats,
      rows: this.rows,
      goneKeys: this.#isFirst ? [...this.#drafts.values()].flatMap((draft) => draft.diff.goneKeys) : [],
      issues: this.issues,
      evidence: [...this.evidence, ...this.told.take()],
      paths: this.paths,
      bytesRead: this.#bytesRead,
      longestReadMs: this.#longestReadMs,
      rowsDone: this.#rowsDone,
    }
    this.#isFirst = false
    this.rows = []
    this.issues = []
    this.evidence = []
    this.paths = []
    this.length = 0
    this.#bytesRead = 0
    this.#longestReadMs = 0
    this.#rowsDone = 0
    return portion
  }
}

const hasNews = (draft: ChatDraft, readTo: number): boolean =>
  draft.ownRow.kind !== 'unread' ||
  draft.messages.length > 0 ||
  draft.vanished.length > 0 ||
  (draft.told === 'part' && draft.lastRowid <= readTo)

function takeChat(draft: ChatDraft, readTo: number): ChatWrite {
  const { diff, ownRow, messages, vanished, placeholders, outline } = draft
  const isLast = draft.lastRowid <= readTo
  const isWhole = isLast && draft.told !== 'part'
  draft.told = isLast ? 'all' : 'part'
  // That the chat is gone is told with every portion: before a message of it is known, there is no chat to mark.
  if (ownRow.kind !== 'gone') draft.ownRow = { kind: 'unread' }
  draft.messages = []
  draft.vanished = []
  draft.placeholders = new Map()
  const write = { id: diff.chatId, ownRow, messages, vanished, placeholders }
  return isWhole ? write : { ...write, part: { isLast, outline } }
}

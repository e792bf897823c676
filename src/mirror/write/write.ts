import { sealCommits } from '../bulk.ts'
import { noteChanges } from '../index/changes.ts'
import { dropCopy } from '../purge/drop-chat.ts'
import type { Mirror } from '../open.ts'
import { withoutExcluded } from '../projects/exclusion.ts'
import { excludedIn, writeEvidence, writePaths, writeWorkspaces } from '../projects/place-chats.ts'
import { withoutPurged } from '../purge/bars.ts'
import { HUB, SourceRanks } from '../sources/sources.ts'
import { RowInsert, prepared } from '../sql.ts'
import { hasEstimates } from '../usage/estimates.ts'
import { writeTracked } from '../usage/tracked.ts'
import { type Change, type Written, emptyChange, tellsFacts } from '../../model/change.ts'
import { KeyAllocator } from './messages.ts'
import { writeChatMetadata } from './chat-columns.ts'
import { completeMessages, writeBlobCalls } from './references.ts'
import { noOutcome, refreshChat, writeChat } from './write-chat.ts'
import { listRepeating } from './write-thread.ts'
import type { ChatId } from '../../model/ids.ts'

const WRITE_POSITION = `
update sources set identity = @identity, signature = @signature, watermark = @watermark, watermark_key = @watermarkKey
where num = @source
`

/**
 * Writes rows, what the index has to follow, issues, evidence and position in one transaction. If the process is killed, the mirror has
 * either the whole change or nothing of it. Writing the same change twice changes nothing. Purged data and excluded
 * projects are left out.
 * @throws SqliteError if the disk is full or the mirror is damaged; then nothing was written
 */
export function writeChange(db: Mirror, unfiltered: Change): Written {
  const patterns = excludedIn(db)
  const allowed = withoutPurged(db, unfiltered)
  const change = patterns.length === 0 ? allowed : withoutExcluded(db, allowed, patterns)
  const written = db.transaction(() => {
    // A chat that comes into being here hides the copies of other machines.
    if (mayHide(db, change.source)) {
      const born = change.chats.filter(({ ownRow, messages }) => messages.length > 0 || tellsFacts(ownRow))
      for (const { id } of born) dropCopy(db, id)
    }
    const tools: WriteTools = {
      indexed: new Set(),
      keys: new KeyAllocator(db),
      ranks: new SourceRanks(db),
      said: new Set(),
      names: new Names(db),
      added: { rows: [], calls: [] },
      isEstimating: hasEstimates(db),
    }
    const outcomes = change.chats.map((chat) => writeChat(db, chat, change, tools))
    const completed = change.answers.length === 0 ? [] : completeMessages(db, change, tools)
    for (const { id, chatId } of completed)
      outcomes.push({ ...noOutcome, chatId, changed: 1, messageIds: [id], isChanged: true })
    if (change.blobCalls.length > 0) writeBlobCalls(db, change)
    writeRows(db, change)
    writeWorkspaces(db, change)
    const again = new Set([
      ...listRepeating(db, tools.said),
      ...completed.map(({ chatId }) => chatId),
      ...writeChatMetadata(db, change),
      ...writeTracked(db, change),
    ])
    for (const chatId of again) outcomes.push(refreshChat(db, chatId, change, tools))
    noteChanges(db, tools.indexed, change.isUrgent)
    writePaths(db, change)
    const moved = writeEvidence(db, change)
    if (change.position !== null) prepared(db, WRITE_POSITION).run({ ...change.position, source: change.source })
    const changed = outcomes.filter((outcome) => outcome.isChanged)
    const sum = (of: 'added' | 'changed' | 'gone'): number =>
      outcomes.reduce((total, outcome) => total + outcome[of], 0)
    return {
      added: sum('added'),
      changed: sum('changed') + new Set(moved).size,
      gone: sum('gone'),
      chatIds: [...new Set([...changed.map(({ chatId }) => chatId), ...moved])],
      losses: outcomes.flatMap(({ losses }) => losses),
      messages: changed.flatMap(({ messageIds, chatId }) => messageIds.map((id) => ({ id, chatId }))),
    }
  })()
  if (written.gone > 0 || change.goneKeys.length > 0) sealCommits(db, change.source)
  return written
}

/** Whether any chats were pulled, and the source is one of this machine. */
const MAY_HIDE = `select 1 from machines where (select kind from sources where num = ?) <> '${HUB}' limit 1`
const mayHide = (db: Mirror, source: number): boolean => prepared(db, MAY_HIDE).get(source) !== undefined

const NEXT_UNPLACED = `
select num, id, source from unplaced join chats on chats.num = unplaced.chat order by chat desc limit 1
`
const COUNT_UNPLACED = `select count(*) from unplaced`
const TAKE_UNPLACED = `delete from unplaced where chat = ?`

/** How many chats wait to be placed. */
export const countUnplaced = (db: Mirror): number => prepared<number>(db, COUNT_UNPLACED).pluck().get() ?? 0

/**
 * Places the messages of the newest chat whose reading was interrupted, or that has times by an older rule, from what the
 * mirror has of it: Cursor may have deleted it.
 * @returns whether there was such a chat
 */
export function placeNext(db: Mirror, nowMs: number): boolean {
  const chat = prepared<{ num: number; id: ChatId; source: number }>(db, NEXT_UNPLACED).get()
  if (chat === undefined) return false
  const unread = { id: chat.id, ownRow: { kind: 'unread' as const }, messages: [], vanished: [] }
  writeChange(db, { ...emptyChange, source: chat.source, nowMs, chats: [unread] })
  // What was purged or is excluded is not written.
  prepared(db, TAKE_UNPLACED).run(chat.num)
  return true
}

const upsertRows = new RowInsert(
  'source_rows (source, key, source_rowid, octets, checksum, is_live)',
  '(?, ?, ?, ?, ?, 1)',
  `on conflict (source, key) do update set
    source_rowid = excluded.source_rowid, octets = excluded.octets, checksum = excluded.checksum, is_live = 1,
    missed_at = null`,
)
/** All of a large chat in one statement: a trigger makes each statement copy the pages that it changes. */
const MARK_GONE = `
update source_rows set is_live = 0, missed_at = null where source = ? and key in (select value from json_each(?))
`
const DROP_ROW = `delete from source_rows where source = ? and key = ?`
const HAS_ISSUES = `select 1 from row_issues where source = ? limit 1`
const CLEAR_ISSUE = `delete from row_issues where source = ? and key = ?`
const NOTE_ISSUE = `
insert into row_issues (source, key, reason, octets, noted_at) values (?, ?, ?, ?, ?)
on conflict (source, key) do update set reason = excluded.reason, octets = excluded.octets
`
/** Makes the row count as changed once it can be read again. */
const FORGET_CHECKSUM = `update source_rows set checksum = null where source = ? and key = ?`

const DROP_ROW_CHATS = `delete from row_chats where source = ? and key = ?`
const ADD_ROW_CHAT = `insert into row_chats (source, key, chat_id) values (?, ?, ?) on conflict do nothing`

function writeRows(db: Mirror, change: Change): void {
  // Few sources have any issue: one check saves a statement per row.
  const hasIssues = prepared(db, HAS_ISSUES).get(change.source) !== undefined
  const clear = prepared(db, CLEAR_ISSUE)
  for (const { key, chatIds } of change.rows) {
    if (chatIds !== undefined) prepared(db, DROP_ROW_CHATS).run(change.source, key)
    for (const id of chatIds ?? []) prepared(db, ADD_ROW_CHAT).run(change.source, key, id)
    if (hasIssues) clear.run(change.source, key)
  }
  upsertRows.run(
    db,
    change.rows.map(({ key, rowid, octets, checksum }) => [change.source, key, rowid, octets, checksum]),
  )
  if (change.goneKeys.length > 0) prepared(db, MARK_GONE).run(change.source, JSON.stringify(change.goneKeys))
  if (hasIssues) for (const key of change.goneKeys) clear.run(change.source, key)
  for (const key of change.droppedKeys) {
    prepared(db, DROP_ROW).run(change.source, key)
    clear.run(change.source, key)
  }
  for (const issue of change.issues) {
    prepared(db, NOTE_ISSUE).run(change.source, issue.key, issue.reason, issue.octets, change.nowMs)
    if (issue.reason === 'unreadable-page') prepared(db, FORGET_CHECKSUM).run(change.source, issue.key)
  }
}

const LIST_ROW_CHATS = `select chat_id from row_chats where source = ? and key = ?`

/** The chats that a row contained when it was last read. */
export const listRowChats = (db: Mirror, source: number, key: string): ChatId[] =>
  prepared<ChatId>(db, LIST_ROW_CHATS).pluck().all(source, key)

/** A name that a search can use as a filter, with its kind. */
const ADD_NAME = `insert into names (kind, name) values (?, ?) on conflict do nothing`
const TOOL = 'tool:'

/** Adds names of tools and models to `names`. Valid for one transaction only: after a rollback the cache would be wrong. */
export class Names {
  readonly #db: Mirror
  readonly #listed = new Set<string>()

  constructor(db: Mirror) {
    this.#db = db
  }

  /** @param marksJson the message's marks as stored */
  write(marksJson: string, model: string | null): void {
    const marks = marksJson.includes(TOOL) ? (JSON.parse(marksJson) as readonly string[]) : []
    const tools = marks.filter((mark) => mark.startsWith(TOOL))
    for (const entry of model === null ? tools : [...tools, `model:${model}`]) {
      if (this.#listed.has(entry)) continue
      this.#listed.add(entry)
      const colon = entry.indexOf(':')
      prepared(this.#db, ADD_NAME).run(entry.slice(0, colon), entry.slice(colon + 1))
    }
  }
}

/** Helpers that all writes of one transaction share. */
export interface WriteTools {
  /** The keys of messages whose rows in the index are to be made anew. */
  readonly indexed: Set<number>
  readonly keys: KeyAllocator
  readonly ranks: SourceRanks
  /** The user's texts that appeared or went. */
  readonly said: Set<number>
  readonly names: Names
  /** Rows of new messages, and of their calls. */
  readonly added: { readonly rows: unknown[][]; readonly calls: unknown[][] }
  /** Whether messages get an estimate of their tokens. */
  readonly isEstimating: boolean
}

import { sealCommits, type Mirror } from '../open.ts'
import { noteChanges } from '../index/index-file.ts'
import { dropCopy } from '../purge/drop-chat.ts'
import { withoutExcluded } from '../projects/exclusion.ts'
import { excludedIn, writeEvidence, writePaths, writeWorkspaces } from '../projects/place-chats.ts'
import { withoutPurged } from '../purge/bars.ts'
import { HUB, SourceRanks } from '../sources/sources.ts'
import { inserting, asking, counting, finding, findingValue, listing, listingValues, writing } from '../sql.ts'
import { writeTracked } from '../usage/tracked.ts'
import { type Change, type Position, type RowIssue, type Written, emptyChange, tellsFacts } from '../../model/change.ts'
import { KeyAllocator } from './messages.ts'
import { writeChatMetadata } from './chat-columns.ts'
import { completeMessages, writeBlobCalls } from './references.ts'
import { noOutcome, refreshChat, unreadChat, writeChat } from './write-chat.ts'
import { listRepeating } from './write-thread.ts'
import type { ChatId } from '../../model/ids.ts'
import type { Role } from '../../model/message.ts'
import { estimateMessage } from '../../text/tokens/estimate-tokens.ts'
import { callsOf, parseParts, replaceCalls } from './pack-message.ts'

const writePosition = writing<[Position & { readonly source: number }]>(`
update sources set identity = @identity, signature = @signature, watermark = @watermark, watermark_key = @watermarkKey
where num = @source
`)

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
      marks: new Set(),
      models: new Set(),
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
    if (change.position !== null) writePosition(db, { ...change.position, source: change.source })
    writeNames(db, tools)
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
const mayHide = asking<[source: number]>(
  `select 1 from machines where (select kind from sources where num = ?) <> '${HUB}' limit 1`,
)

const nextUnplaced = finding<[], { readonly num: number; readonly id: ChatId; readonly source: number }>(
  `select num, id, source from unplaced join chats on chats.num = unplaced.chat order by chat desc limit 1`,
)
const takeUnplaced = writing<[chat: number]>(`delete from unplaced where chat = ?`)

/** How many chats wait to be placed. */
export const countUnplaced = counting(`select count(*) from unplaced`)

/** Writes chats of a source again of which nothing was read: something that they depend on changed. */
export function rewriteChats(db: Mirror, source: number, ids: readonly ChatId[], nowMs: number, isUrgent = true): void {
  writeChange(db, { ...emptyChange, source, nowMs, chats: ids.map(unreadChat), isUrgent })
}

/**
 * Places the messages of the newest chat whose reading was interrupted, or that has times by an older rule, from what the
 * mirror has of it: Cursor may have deleted it.
 * @returns whether there was such a chat
 */
export function placeNext(db: Mirror, nowMs: number): boolean {
  const chat = nextUnplaced(db)
  if (chat === undefined) return false
  rewriteChats(db, chat.source, [chat.id], nowMs)
  // What was purged or is excluded is not written.
  takeUnplaced(db, chat.num)
  return true
}

const upsertRows = inserting(
  'source_rows (source, key, source_rowid, octets, checksum, is_live)',
  '(?, ?, ?, ?, ?, 1)',
  `on conflict (source, key) do update set
    source_rowid = excluded.source_rowid, octets = excluded.octets, checksum = excluded.checksum, is_live = 1,
    missed_at = null`,
)
/** All of a large chat in one statement: a trigger makes each statement copy the pages that it changes. */
const markGone = writing<[source: number, keys: string]>(`
update source_rows set is_live = 0, missed_at = null where source = ? and key in (select value from json_each(?))
`)
const dropRow = writing<[source: number, key: string]>(`delete from source_rows where source = ? and key = ?`)
const hasAnyIssue = asking<[source: number]>(`select 1 from row_issues where source = ? limit 1`)
const clearIssue = writing<[source: number, key: string]>(`delete from row_issues where source = ? and key = ?`)
const noteIssue = writing<[RowIssue & { readonly source: number; readonly nowMs: number }]>(`
insert into row_issues (source, key, reason, octets, noted_at) values (@source, @key, @reason, @octets, @nowMs)
on conflict (source, key) do update set reason = excluded.reason, octets = excluded.octets
`)
/** Makes the row count as changed once it can be read again. */
const forgetChecksum = writing<[source: number, key: string]>(
  `update source_rows set checksum = null where source = ? and key = ?`,
)

const dropRowChats = writing<[source: number, key: string]>(`delete from row_chats where source = ? and key = ?`)
const addRowChat = writing<[source: number, key: string, chatId: ChatId]>(
  `insert into row_chats (source, key, chat_id) values (?, ?, ?) on conflict do nothing`,
)
/** The chats that a row contained when it was last read. */
export const listRowChats = listingValues<[source: number, key: string], ChatId>(
  `select chat_id from row_chats where source = ? and key = ?`,
)

function writeRows(db: Mirror, { source, nowMs, rows, goneKeys, droppedKeys, issues }: Change): void {
  // Few sources have any issue: one check saves a statement per row.
  const hasIssues = hasAnyIssue(db, source)
  for (const { key, chatIds } of rows) {
    if (chatIds !== undefined) dropRowChats(db, source, key)
    for (const id of chatIds ?? []) addRowChat(db, source, key, id)
  }
  upsertRows(
    db,
    rows.map(({ key, rowid, octets, checksum }) => [source, key, rowid, octets, checksum]),
  )
  if (goneKeys.length > 0) markGone(db, source, JSON.stringify(goneKeys))
  for (const key of droppedKeys) dropRow(db, source, key)
  const known = [...rows.map(({ key }) => key), ...goneKeys, ...droppedKeys]
  if (hasIssues) for (const key of known) clearIssue(db, source, key)
  for (const issue of issues) {
    noteIssue(db, { ...issue, source, nowMs })
    if (issue.reason === 'unreadable-page') forgetChecksum(db, source, issue.key)
  }
}

/** The tools and models that a search can use as a filter. */
const addTools = writing<[marks: string]>(`
insert into names (kind, name)
select distinct 'tool', substr(mark.value, 6) from json_each(?) marks, json_each(marks.value) mark
where mark.value glob 'tool:*' on conflict do nothing
`)
const addModels = writing<[models: string]>(
  `insert into names (kind, name) select 'model', value from json_each(?) where true on conflict do nothing`,
)

function writeNames(db: Mirror, { marks, models }: WriteTools): void {
  if (marks.size > 0) addTools(db, JSON.stringify([...marks]))
  if (models.size > 0) addModels(db, JSON.stringify([...models]))
}

/** Helpers that all writes of one transaction share. */
export interface WriteTools {
  /** The keys of messages whose rows in the index are to be made anew. */
  readonly indexed: Set<number>
  readonly keys: KeyAllocator
  readonly ranks: SourceRanks
  /** The user's texts that appeared or went. */
  readonly said: Set<number>
  /** The marks of written messages, as JSON, and their models. */
  readonly marks: Set<string>
  readonly models: Set<string>
  /** Rows of new messages, and of their calls. */
  readonly added: { readonly rows: unknown[][]; readonly calls: unknown[][] }
  /** Whether messages get an estimate of their tokens. */
  readonly isEstimating: boolean
}

/** Puts every chat on the list of those whose messages are counted again. */
export const noteUncounted = writing(
  `insert into uncounted (chat) select num from chats where message_count > 0 on conflict do nothing`,
)
/** How many chats wait for the calls or the estimates of their messages. */
export const countUncounted = counting(`select count(*) from uncounted`)

const isOff = asking(`select 1 from upkeep where task = 'estimates-off'`)
const turnOff = writing<[nowMs: number]>(
  `insert into upkeep (task, done_at) values ('estimates-off', ?) on conflict do nothing`,
)
const turnOn = writing(`delete from upkeep where task = 'estimates-off'`)

/** Whether messages get an estimate of their tokens when they are written. */
export const hasEstimates = (db: Mirror): boolean => !isOff(db)

/** Turned off, messages that are written from now on get no estimate. Turned on again, all messages get one. */
export function turnEstimates(db: Mirror, isOn: boolean, nowMs: number): void {
  if (!isOn) turnOff(db, nowMs)
  else if (turnOn(db) > 0) noteUncounted(db)
}

const nextUncounted = findingValue<[], number>(`select chat from uncounted order by chat desc limit 1`)
const takeUncounted = writing<[chat: number]>(`delete from uncounted where chat = ?`)
const listUncounted = listing<[chat: number], { key: number; body: number; role: Role; parts: string }>(
  `select key, body, role, parts from messages join bodies on bodies.num = body where chat = ?`,
)
const saveEstimate = writing<[input: number, output: number, key: bigint]>(
  `update messages set estimated_input = ?, estimated_output = ? where key = ?`,
)

/**
 * Counts the messages of the newest waiting chat, in one transaction: their tool calls, and estimates of their tokens. If
 * the process is killed, a chat either has all of them or still waits.
 * @returns how many chats: 1, or 0 if none waits
 */
export function countNext(db: Mirror): number {
  const chat = nextUncounted(db)
  if (chat === null) return 0
  db.transaction(() => {
    const isEstimating = hasEstimates(db)
    for (const { key, body, role, parts: json } of listUncounted(db, chat)) {
      const parts = parseParts(json)
      replaceCalls(db, body, callsOf(parts))
      const { input, output } = estimateMessage(role, parts)
      if (isEstimating) saveEstimate(db, input, output, BigInt(key))
    }
    takeUncounted(db, chat)
  })()
  return 1
}

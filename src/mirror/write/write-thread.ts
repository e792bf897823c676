import type { ChatTime, Outline } from '../../model/thread.ts'
import type { ChatId, MessageId } from '../../model/ids.ts'
import type { Mirror } from '../open.ts'
import { dropMessage } from '../purge/drop-chat.ts'
import { HUB } from '../sources/sources.ts'
import { asking, listingValues, writing } from '../sql.ts'
import { arrange, assemble } from '../threads/assemble.ts'
import { contentColumns, findMessage, listMessages, placeColumns, saveMessage, writeAdded } from './messages.ts'
import { renameRivals, replacedMessage } from './messages.ts'
import type { HeldMessage, MessageColumns, NextMessage, Place } from './messages.ts'
import { readOutline } from './chat-columns.ts'
import { lendTokens, notePlaceholders, readLent, withLent, type LentTokens } from '../threads/placeholders.ts'
import type { Change, ChatChange, MessageWrite } from '../../model/change.ts'
import { notePendingReferences, withFoundContent } from './references.ts'
import type { WriteTools } from './write.ts'

export interface ThreadWrite {
  /** `source` decides its facts. */
  readonly chat: { readonly num: number; readonly source: number; readonly format: string }
  /** True if the mirror had nothing of the chat before. */
  readonly isNew: boolean
  readonly write: ChatChange
  /** Its source is the one from which `write` was read. */
  readonly change: Pick<Change, 'source' | 'nowMs'>
  readonly chatTime: ChatTime | null
  readonly tools: WriteTools
}

export interface ThreadOutcome {
  readonly added: number
  readonly changed: number
  readonly gone: number
  readonly messageIds: readonly MessageId[]
  /** The current state of all messages of the chat, from all sources; null if only a part of it was read. */
  readonly all: readonly MessageColumns[] | null
}

const hasPlaceholders = asking<[{ readonly chat: number }]>(
  `select 1 from placeholders where chat = @chat union all select 1 from placeholder_tokens where chat = @chat limit 1`,
)
const noneLent: LentTokens = new Map()
const noteUnplaced = writing<[chat: number]>(`insert into unplaced (chat) values (?) on conflict do nothing`)
const takePlaced = writing<[chat: number]>(`delete from unplaced where chat = ?`)
const addSuperseded = writing<[ChatId, MessageId]>(
  `insert into superseded_messages (chat_id, id) values (?, ?) on conflict do nothing`,
)

/**
 * Updates the messages of one chat from a source, and places all of them again: a new outline or a new neighbour can move
 * a message that did not change itself.
 */
export function writeThread(db: Mirror, thread: ThreadWrite): ThreadOutcome {
  const { isNew, write, chatTime } = thread
  const { num: chat, source: owner } = thread.chat
  const { source } = thread.change
  const { ranks } = thread.tools
  const isLending =
    [...(write.placeholders?.values() ?? [])].some((placeholder) => placeholder !== null) ||
    (!isNew && hasPlaceholders(db, { chat }))
  if (isLending) notePlaceholders(db, chat, source, write)
  const lent = isLending ? readLent(db, chat) : noneLent
  if (write.hasMore === true && canWait(db, thread)) {
    noteUnplaced(db, chat)
    const read = write.messages.map((message) =>
      readAgain(db, thread, findMessage(db, chat, message.id, source), message),
    )
    const placed = arrange(outlineOfParts(db, chat, source), read, chatTime)
    return { ...savePlaced(db, thread, placed, lent), all: null }
  }
  takePlaced(db, chat)
  outlines.delete(db)
  const next = nextMessages(db, thread, lent)
  // Messages that only an older decoder read as such: the source, read again, no longer yields them.
  const isSuperseded = ({ held, columns }: NextMessage): boolean =>
    write.supersedes === true &&
    columns.source === source &&
    columns.is_live === 0 &&
    (held?.is_live === 1 || write.ownRow.kind === 'gone')
  const superseded = next.filter(isSuperseded).flatMap(({ held }) => held ?? [])
  for (const { key, id, body, is_shadowed: isShadowed } of superseded) {
    dropMessage(db, { key, chat, id, body, isShadowed })
    addSuperseded(db, write.id, id)
  }
  const assembled = assemble({
    messages: superseded.length === 0 ? next : next.filter((message) => !isSuperseded(message)),
    owner,
    chatTime,
    ranks,
    outlineOf: (of) => readOutline(db, chat, of),
    isRepeated: ({ user_text }) =>
      thread.chat.format === PROMPTS && user_text !== null && isHeldElsewhere(db, user_text),
  })
  const lentNow = isLending ? lendTokens(db, chat, assembled, (of) => ranks.isArchive(of)) : noneLent
  const outcome = savePlaced(db, thread, assembled.placed, lentNow)
  return { ...outcome, changed: outcome.changed + superseded.length }
}

const outlines = new WeakMap<Mirror, { readonly chat: number; readonly source: number; readonly outline: Outline }>()

/**
 * The outline while a chat is read in parts. It is kept until the last part: that of a chat of 200,000 messages has 20 MB,
 * and reading it again for each part would take more memory and time than the part. The last part reads it again.
 */
function outlineOfParts(db: Mirror, chat: number, source: number): Outline {
  const kept = outlines.get(db)
  if (kept?.chat === chat && kept.source === source) return kept.outline
  const outline = readOutline(db, chat, source) ?? null
  outlines.set(db, { chat, source, outline })
  return outline
}

const isHeld = asking<[chat: number, MessageId]>(`select 1 from messages where chat = ? and id = ? limit 1`)
const hasOther = asking<[chat: number, source: number]>(`select 1 from messages where chat = ? and source <> ? limit 1`)

/**
 * Whether the messages that were read can have a place for themselves until the rest of the chat is read. Placing all
 * messages after each part would multiply the memory and time for a long chat.
 */
function canWait(db: Mirror, { chat: { num, format }, isNew, change, write }: ThreadWrite): boolean {
  if (isNew || format === PROMPTS || write.ownRow.kind !== 'unread') return false
  // A vanished row counts only if it was a message: a row with nothing to show may never have been one.
  return !write.vanished.some((id) => isHeld(db, num, id)) && !hasOther(db, num, change.source)
}

/** The next state of every message of the chat, except for its place and for the tokens of placeholders. */
function nextMessages(db: Mirror, thread: ThreadWrite, lent: LentTokens): NextMessage[] {
  const { isNew, write } = thread
  const { num } = thread.chat
  const { source, nowMs } = thread.change
  if (!isNew && write.isByPlace !== undefined) renameRivals(db, num, source, write)
  const vanished = new Set(write.vanished)
  const others: NextMessage[] = []
  const own = new Map<MessageId, NextMessage>()
  for (const held of isNew ? [] : listMessages(db, num)) {
    const columns = lent.size === 0 ? held : withLent(held, lent, -1)
    const next = { held, columns, partsJson: null, calls: null }
    if (held.source !== source) others.push(next)
    else if (!isLost(held, write.ownRow, vanished)) own.set(held.id, next)
    else own.set(held.id, { ...next, columns: { ...columns, is_live: 0, deleted_at: nowMs } })
  }
  const keepsReplaced = write.isByPlace === true && write.supersedes !== true
  for (const read of write.messages) {
    const before = own.get(read.id)?.held ?? null
    // What was found for it before is no other text.
    const message = before === null || read.references.length === 0 ? read : withFoundContent(db, before, read)
    const former = before === null || !keepsReplaced ? null : replacedMessage(db, before, message, write, nowMs)
    const isMoved = former !== null && !own.has(former.columns.id)
    if (isMoved) own.set(former.columns.id, former)
    own.set(message.id, readAgain(db, thread, isMoved ? null : before, message))
  }
  return [...own.values(), ...others]
}

/** Whether a message that this pass did not read is gone from the source. */
function isLost(
  { id, is_live, is_embedded }: HeldMessage,
  ownRow: ChatChange['ownRow'],
  vanished: ReadonlySet<MessageId>,
): boolean {
  if (is_live === 0) return false
  if (is_embedded === 0) return vanished.has(id)
  return ownRow.kind === 'gone' || (ownRow.kind === 'read' && !ownRow.embeddedIds.has(id))
}

/** The next state of a message that was read. */
function readAgain(
  db: Mirror,
  { chat, change: { source }, tools }: ThreadWrite,
  held: HeldMessage | null,
  read: MessageWrite,
): NextMessage {
  const message = held === null || read.references.length === 0 ? read : withFoundContent(db, held, read)
  if (held !== null || read.references.length > 0)
    notePendingReferences(db, [chat.num, source, read.id], message.references)
  const columns = {
    ...contentColumns(message, tools),
    source,
    id: message.id,
    role: message.role,
    alias: message.alias,
    sent_at: message.sentAtMs,
    started_at: message.startedAtMs,
    timing_at: message.timingAtMs,
    model: message.model,
    input_tokens: message.tokens?.input ?? null,
    output_tokens: message.tokens?.output ?? null,
    request_id: message.requestId ?? null,
    is_simulated: message.isSimulated ? 1 : 0,
    is_embedded: message.isEmbedded ? 1 : 0,
    is_live: message.remembered ? 0 : 1,
    deleted_at: message.remembered?.deletedAtMs ?? null,
    octets: message.octets,
  }
  return { held, columns, partsJson: message.partsJson, calls: message.calls }
}

function savePlaced(
  db: Mirror,
  { chat, tools }: ThreadWrite,
  placed: readonly (readonly [NextMessage, Place])[],
  lent: LentTokens,
) {
  const outcome = { added: 0, changed: 0, gone: 0, messageIds: [] as MessageId[], all: [] as MessageColumns[] }
  for (const [message, place] of placed) {
    const { held } = message
    const own = lent.size === 0 ? message.columns : withLent(message.columns, lent)
    // Nearly all messages of a long chat after one was written. It saves comparing them column by column.
    if (held !== null && own === held && placeColumns.every((column) => place[column] === held[column])) {
      outcome.all.push(held)
      continue
    }
    const columns: MessageColumns = { ...own, ...place }
    outcome.all.push(columns)
    if (!saveMessage(db, chat.num, message, columns, tools)) continue
    // A prompt in a chat of prompts counts only while no other chat contains it, so a changed text affects those chats.
    if (chat.format !== PROMPTS && held?.user_text !== columns.user_text) {
      for (const text of [held?.user_text ?? null, columns.user_text]) if (text !== null) tools.said.add(text)
    }
    if (held === null) outcome.added += 1
    else if (held.is_live === 1 && columns.is_live === 0) outcome.gone += 1
    else outcome.changed += 1
    outcome.messageIds.push(columns.id)
  }
  writeAdded(db, tools)
  return outcome
}

/**
 * The format of a chat whose prompts alone are left. A prompt counts only if no other chat of this machine
 * contains it.
 */
export const PROMPTS = 'prompts'

/** Whether a complete chat of this machine contains a prompt with these words. */
const isHeldElsewhere = asking<[userText: number]>(`
select 1 from messages cross join chats on chats.num = messages.chat
where user_text = ? and chats.format <> '${PROMPTS}'
  and messages.source not in (select num from sources where kind = '${HUB}') limit 1
`)

const hasPrompts = asking(`select 1 from chats where format = '${PROMPTS}' limit 1`)
const listWithText = listingValues<[userText: number], ChatId>(`
select distinct chats.id from messages cross join chats on chats.num = messages.chat
where user_text = ? and chats.format = '${PROMPTS}'
`)

/** The chats of prompts that have one of these texts. */
export const listRepeating = (db: Mirror, texts: ReadonlySet<number>): ChatId[] =>
  texts.size === 0 || !hasPrompts(db) ? [] : [...texts].flatMap((text) => listWithText(db, text))

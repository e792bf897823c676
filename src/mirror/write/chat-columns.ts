import type { Mirror } from '../open.ts'
import { ARCHIVE } from '../sources/sources.ts'
import { asking, counting, finding, findingValue, listing, listingValues, prepared, writing } from '../sql.ts'
import { type Change, type ChatFacts, type ChatMetadata, type OwnRow, tellsFacts } from '../../model/change.ts'
import type { ChatId } from '../../model/ids.ts'
import type { Outline } from '../../model/thread.ts'

/** The number of a chat in other tables; null if the mirror has nothing of it. */
export const chatNum = findingValue<[ChatId], number>(`select num from chats where id = ?`)

export const isMirrored = (db: Mirror, id: ChatId): boolean => chatNum(db, id) !== null

/** The next revision. Every change of a chat, or of data that belongs to it, uses one, so readers can ask for changes. */
export const nextRevision = counting(`select coalesce(max(revision), 0) + 1 from chats`)

/** Gives a chat a new revision after a change outside its own columns. */
export const touchChat = writing<[ChatId]>(
  `update chats set revision = (select coalesce(max(revision), 0) + 1 from chats) where id = ?`,
)

export type OwnRowState = 'none' | 'live' | 'gone'

/** The list name under which the metadata of the chat's own row is stored. */
const OWN_ROW = ''

/** The metadata that the chat's own row contains, as a list would give it. */
export const ownRowMetadata = (chatId: ChatId, facts: ChatFacts): ChatMetadata => ({
  branch: null,
  ...facts,
  chatId,
  list: OWN_ROW,
})

/** The columns of a list's entry. */
const columnsOf = (said: ChatMetadata) => ({
  name: said.name,
  created_at: said.createdAtMs,
  updated_at: said.updatedAtMs,
  mode: said.mode,
  branch: said.branch,
  is_archived: flag(said.isArchived),
  is_draft: flag(said.isDraft),
  is_subagent: flag(said.isSubagent),
  parent_chat_id: said.parentChatId,
  lines_added: said.linesAdded,
  lines_removed: said.linesRemoved,
  files_changed: said.filesChanged,
})
type MetadataColumns = ReturnType<typeof columnsOf>

const flag = (value: boolean | null): number | null => (value === null ? null : Number(value))

/** @returns whether anything changed */
export function saveMetadata(db: Mirror, source: number, said: ChatMetadata): boolean {
  const columns = columnsOf(said)
  const names = Object.keys(columns)
  const sql = `
insert into chat_metadata (chat_id, source, list, ${names.join(', ')}) values (?, ?, ?${', ?'.repeat(names.length)})
on conflict (chat_id, source, list) do update set ${names.map((name) => `${name} = excluded.${name}`).join(', ')}
where ${names.map((name) => `${name} is not excluded.${name}`).join(' or ')}
`
  return prepared(db, sql).run(said.chatId, source, said.list, ...Object.values(columns)).changes > 0
}

/** @returns the chats whose metadata changed, and those of which nothing else is known */
export const writeChatMetadata = (db: Mirror, { source, metadata }: Change): ChatId[] =>
  metadata.filter((said) => saveMetadata(db, source, said) || !isMirrored(db, said.chatId)).map(({ chatId }) => chatId)

/**
 * Metadata of the chat's own row stays when the row is gone. It is deleted once another store of the same rank has the
 * chat's row, because the chat then lives on there, for example in another profile.
 */
export const forgetMoved = writing<[ChatId]>(`
delete from chat_metadata where chat_id = ? and list = '${OWN_ROW}' and exists (
  select 1 from chats
    join outlines gone on gone.chat = chats.num and gone.source = chat_metadata.source and gone.own_row = 'gone'
    join sources mine on mine.num = gone.source
    join outlines live on live.chat = chats.num and live.own_row = 'live'
    join sources alike on alike.num = live.source and alike.rank = mine.rank
  where chats.id = chat_id
)`)

/** Builds with this list no longer update the older lists. Archiving a chat does not change its update time. */
const NEWEST_LIST = 'header-table'

/**
 * The chat's own row first, that of the best source before others. Then the lists, the latest update first; of two with
 * the same time, the list that is still updated.
 */
const listMetadata = listing<[ChatId], MetadataColumns & { readonly list: string; readonly kind: string }>(`
select said.*, kind from chat_metadata said cross join sources on sources.num = said.source
where chat_id = ?
order by list = '' desc, case list when '' then rank end, updated_at desc nulls last, list = '${NEWEST_LIST}' desc, list, num
`)

/** What a pulled chat says of others does not count: somebody else could hide a chat by it. Pulled subagents say it themselves. */
const isLinkedTo = asking<[ChatId]>(
  `select 1 from chat_links left join chats on chats.id = parent_id where child_id = ? and machine is null`,
)

/** What the chat's own row and all lists say together, as columns of `chats`. */
export function mergeMetadata(db: Mirror, chatId: ChatId) {
  const all = listMetadata(db, chatId)
  // An archive's metadata of the chat's own row counts only if no store ever had that row.
  const hasStoreRow = all.some(({ list, kind }) => list === OWN_ROW && kind !== ARCHIVE)
  const counted = hasStoreRow ? all.filter(({ kind }) => kind !== ARCHIVE) : all
  const first = <Key extends keyof MetadataColumns>(key: Key): MetadataColumns[Key] | null =>
    counted.find((said) => said[key] !== null)?.[key] ?? null
  // A missing flag in the chat's own row does not mean "not archived". Otherwise the latest entry decides.
  const archival = counted.filter(({ list, is_archived }) =>
    list === OWN_ROW ? is_archived === 1 : is_archived !== null,
  )
  const [newest] = archival.toSorted((a, b) => (b.updated_at ?? 0) - (a.updated_at ?? 0))
  const own = counted.find(({ list }) => list === OWN_ROW)
  const updates = counted.flatMap(({ updated_at }) => updated_at ?? [])
  return {
    name: first('name'),
    cursor_created_at: first('created_at'),
    cursor_updated_at: updates.length === 0 ? null : Math.max(...updates),
    mode: first('mode'),
    branch: first('branch'),
    is_archived: newest?.is_archived ?? 0,
    // Only the own row decides: an outdated list must not hide a chat.
    is_draft: own?.is_draft ?? 0,
    is_subagent: isLinkedTo(db, chatId) || counted.some((said) => said.is_subagent === 1) ? 1 : 0,
    parent_chat_id: first('parent_chat_id'),
    lines_added: first('lines_added'),
    lines_removed: first('lines_removed'),
    files_changed: first('files_changed'),
  }
}

const writeOutline = writing<
  [{ readonly chat: number; readonly source: number; readonly entries: string | null; readonly state: OwnRowState }]
>(`
insert into outlines (chat, source, entries, own_row) values (@chat, @source, coalesce(@entries, 'null'), @state)
on conflict (chat, source) do update set entries = coalesce(@entries, entries), own_row = @state
where entries <> coalesce(@entries, entries) or own_row <> @state
`)

/**
 * Saves what a source reports of the chat's own row. The known order stays when the row is gone.
 * @returns whether anything changed
 */
export function noteOwnRow(db: Mirror, chat: number, source: number, ownRow: OwnRow): boolean {
  if (ownRow.kind === 'unread') return false
  const isGone = ownRow.kind === 'gone' || ownRow.kind === 'remembered'
  const state: OwnRowState = ownRow.kind === 'forgotten' ? 'none' : isGone ? 'gone' : 'live'
  const entries = tellsFacts(ownRow) ? JSON.stringify(ownRow.outline) : null
  return writeOutline(db, { chat, source, entries, state }) > 0
}

const dropCopyReference = writing<[chat: number, source: number]>(
  `delete from pending_references where chat = ? and source = ? and kind = 'copy'`,
)
const addCopyReference = writing<[chat: number, source: number]>(
  `insert into pending_references (chat, source, message_id, kind, name) values (?, ?, '', 'copy', '')`,
)

/**
 * Saves whether a chat's own row, which was just read or is gone, refers to a copy of the thread. The reference has no
 * message, and gets a new number each time, because the copy may have changed with the row.
 */
export function noteCopy(db: Mirror, chat: number, source: number, namesCopy: boolean): void {
  dropCopyReference(db, chat, source)
  if (namesCopy) addCopyReference(db, chat, source)
}

/** Forgets that a source had the chat's own row. @returns whether anything changed */
export const dropOwnRow = (db: Mirror, chat: number, source: number): boolean => dropOutline(db, chat, source) > 0
const dropOutline = writing<[chat: number, source: number]>(`delete from outlines where chat = ? and source = ?`)

const listStates = listing<[chat: number], { readonly source: number; readonly state: OwnRowState }>(
  `select source, own_row as state from outlines where chat = ?`,
)

/** State of the chat's own row in every source that ever had one. */
export const readOwnRows = (db: Mirror, chat: number): ReadonlyMap<number, OwnRowState> =>
  new Map(listStates(db, chat).map(({ source, state }) => [source, state]))

/** State of the chat's own row in one source; `none` if the source never had one. */
export const readOwnRow = (db: Mirror, id: ChatId, source: number): OwnRowState =>
  readOwnRows(db, chatNum(db, id) ?? 0).get(source) ?? 'none'

const findEntries = findingValue<[chat: number, source: number], string>(
  `select entries from outlines where chat = ? and source = ?`,
)

/** A source's order of a chat; null if it gives none, undefined if it never had the chat's own row. */
export function readOutline(db: Mirror, chat: number, source: number): Outline | undefined {
  const entries = findEntries(db, chat, source)
  return entries === null ? undefined : (JSON.parse(entries) as Outline)
}

/** What the mirror has of a chat. A restore adds the rest. */
export interface HeldChat {
  /** Whether a store of Cursor has, or once had, the chat's own row. */
  readonly isTold: boolean
  /** Whether an archive has it. */
  readonly isRemembered: boolean
  readonly hasProject: boolean
  /** Epoch milliseconds, from its rows and lists. */
  readonly updatedAtMs: number | null
  /** Ids of its messages from all sources, live or not, and of messages that only an older decoder yielded. */
  readonly messageIds: ReadonlySet<string>
}

const findHeld = finding<
  [ChatId],
  Record<'isTold' | 'isRemembered' | 'hasProject', 0 | 1> & Pick<HeldChat, 'updatedAtMs'>
>(`
select project is not null as hasProject, cursor_updated_at as updatedAtMs,
  count(*) filter (where kind <> '${ARCHIVE}') > 0 as isTold, count(*) filter (where kind = '${ARCHIVE}') > 0 as isRemembered
from chats left join outlines on outlines.chat = chats.num left join sources on sources.num = outlines.source
where chats.id = ? and machine is null group by chats.num
`)
const listIds = listingValues<[{ readonly id: ChatId }], string>(`
select id from messages where chat = (select num from chats where chats.id = @id)
union select id from superseded_messages where chat_id = @id
`)

/** Null if the mirror has nothing of the chat. A pulled copy is nothing: it goes when a source of this machine has the chat. */
export function findHeldChat(db: Mirror, id: ChatId): HeldChat | null {
  const found = findHeld(db, id)
  if (found === undefined) return null
  const { isTold, isRemembered, hasProject, updatedAtMs } = found
  return {
    isTold: isTold === 1,
    isRemembered: isRemembered === 1,
    hasProject: hasProject === 1,
    updatedAtMs,
    messageIds: new Set(listIds(db, { id })),
  }
}

/** SQL: whether only lists of Cursor's name a chat, so that nothing of it is here. @param chat the alias of its row */
export const isListedOnly = (chat: string): string =>
  `(${chat}.own_row = 'none' and not exists (select 1 from messages where messages.chat = ${chat}.num))`

/** Whether a source of this machine has the chat, or once had it. */
export const isOwn = asking<[ChatId]>(
  `select 1 from chats c where id = ? and machine is null and not ${isListedOnly('c')}`,
)

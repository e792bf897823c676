import { asChatId, asMessageId, asProjectId } from '../../../model/ids.ts'
import type { Loss } from '../../../model/chat.ts'
import type { ProjectRef } from '../../../model/project.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/prepared.ts'
import { toIso } from '../../iso.ts'
import type { Page, PageRequest } from '../page.ts'
import { inSnapshot } from '../snapshot.ts'

export interface LossListRequest extends PageRequest {
  /** From `resolveProjects`; an empty list lets nothing through. Null: any. */
  readonly projectNums: readonly number[] | null
  /** Epoch milliseconds, inclusive. */
  readonly fromMs: number | null
  /** Epoch milliseconds, exclusive. */
  readonly toMs: number | null
}

export interface ListedLoss extends Loss {
  /** When it was noticed. */
  readonly at: string | null
  readonly project: ProjectRef | null
  /** Of the chat. */
  readonly title: string
}

/** `at` is never negative and always a number: the bounds of a period that is open are those of all numbers. */
const IN_PERIOD = `l.at >= @fromMs and l.at < @toMs`
const OF_PROJECTS = `and l.chat in (
  select num from chats where project in (select value from json_each(@projects))
)`

/** Both walk the index by time; the chats' rows are read for the page alone, or for the filter by project. */
export const findLosses = (isOfProjects: boolean): string => `
  select l.at as atMs, l.kind, l.message_id as messageId, c.id as chatId, c.title, p.id as projectId, p.name as projectName
  from (
    select at, chat, kind, message_id from losses l
    where ${IN_PERIOD} ${isOfProjects ? OF_PROJECTS : ''}
    order by at desc, chat desc, kind desc, message_id desc
    limit @limit offset @offset
  ) l
  join chats c on c.num = l.chat
  left join projects p on p.num = c.project
  order by l.at desc, l.chat desc, l.kind desc, l.message_id desc
`
export const countLosses = (isOfProjects: boolean): string => `
  select count(*) from losses l where ${IN_PERIOD} ${isOfProjects ? OF_PROJECTS : ''}
`

interface LossRow {
  readonly atMs: number
  readonly kind: Loss['kind']
  readonly messageId: string
  readonly chatId: string
  readonly title: string
  readonly projectId: string | null
  readonly projectName: string | null
}

/** What Cursor dropped and the mirror holds, the last noticed first. */
export function listLosses(
  db: Mirror,
  { projectNums, fromMs, toMs, limit, offset }: LossListRequest,
): Page<ListedLoss> {
  const filter = {
    fromMs: fromMs ?? Number.MIN_SAFE_INTEGER,
    toMs: toMs ?? Number.MAX_SAFE_INTEGER,
    ...(projectNums === null ? {} : { projects: JSON.stringify(projectNums) }),
  }
  const isOfProjects = projectNums !== null
  return inSnapshot(db, () => {
    const rows = db.prepare<[object], LossRow>(findLosses(isOfProjects)).all({ ...filter, limit, offset })
    const total = db.prepare<[object], number>(countLosses(isOfProjects)).pluck().get(filter) ?? 0
    return { items: rows.map(toLoss), total, limit, offset }
  })
}

/** What Cursor dropped, counted as a person would: the lines of the ledger. A chat that went whole is one. */
export interface LossCounts {
  readonly messages: number
  readonly chats: number
  /** When the last of it was noticed; null where nothing was ever lost. */
  readonly lastAt: string | null
}

const SUM_LOSSES = `
  select
    count(*) filter (where kind = 'message') as messages,
    count(*) filter (where kind = 'chat') as chats,
    (select max(at) from losses) as lastAtMs
  from losses
`

/** All that `listLosses` lists, as numbers. Whoever says how much was lost asks here. */
export function sumLosses(db: Mirror): LossCounts {
  const row = db.prepare<[], { messages: number; chats: number; lastAtMs: number | null }>(SUM_LOSSES).get()
  return { messages: row?.messages ?? 0, chats: row?.chats ?? 0, lastAt: toIso(row?.lastAtMs ?? null) }
}

/** A message that several sources held is counted once, at the one that knows it best; a chat at the one that told it. */
const SUM_OF_SOURCE = `
  select
    count(*) filter (where l.kind = 'message') as messages,
    count(*) filter (where l.kind = 'chat') as chats
  from losses l
  where @source = case l.kind
    when 'chat' then (select source from chats where num = l.chat)
    else (
      select m.source from messages m join sources s on s.num = m.source
      where m.chat = l.chat and m.id = l.message_id
      order by m.is_orphan = 2, s.rank, s.num limit 1
    )
  end
`

/** The share of one source: over all sources it adds up to `sumLosses`. @param source its number */
export function sumLossesOf(db: Mirror, source: number): Pick<LossCounts, 'messages' | 'chats'> {
  const sum = prepared<{ messages: number; chats: number }>(db, SUM_OF_SOURCE).get({ source })
  return sum ?? { messages: 0, chats: 0 }
}

const toLoss = (row: LossRow): ListedLoss => ({
  at: toIso(row.atMs),
  kind: row.kind,
  chatId: asChatId(row.chatId),
  messageId: row.kind === 'chat' ? null : asMessageId(row.messageId),
  project:
    row.projectId === null || row.projectName === null
      ? null
      : { id: asProjectId(row.projectId), name: row.projectName },
  title: row.title,
})

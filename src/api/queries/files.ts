import type { Mirror } from '../../mirror/open.ts'
import { prepared } from '../../mirror/sql.ts'
import { parseParts } from '../../mirror/write/pack-message.ts'
import type { MessageId } from '../../model/ids.ts'
import type { ToolPart } from '../../model/part.ts'
import { countLines, diffText, editsWithin, type FileEdit } from '../../shared/edits.ts'
import type { FileEditAnswer, FileUse } from '../answers/projects.ts'
import type { Page, PageRequest } from '../answers/common.ts'
import { answerRow, bind, cached, PROJECT_REF, type Row, inSnapshot } from './rows.ts'
import { useOfTool } from '../../shared/tools.ts'

export interface FilesRequest extends PageRequest {
  /** From `resolveProjects`; null for all. */
  readonly projectNums: readonly number[] | null
  /** A part of the path, in any case; null for all files. */
  readonly q: string | null
}

/** A path with slashes, and relative to the root of its project if it lies there: calls name a file in both ways. */
const relative = (path: string): string => `
  case when p.path is not null and instr(replace(${path}, '\\', '/'), replace(p.path, '\\', '/') || '/') = 1
    then substr(replace(${path}, '\\', '/'), length(p.path) + 2)
    else replace(${path}, '\\', '/') end
`
/** Failed and rejected calls touched no files. `cross join` begins with the messages that have calls. */
const CALLS = `
  from messages m indexed by callers cross join calls u on u.body = m.body
  cross join chats c on c.num = m.chat left join projects p on p.num = c.project
  where m.is_orphan = 0 and m.tool_calls > 0 and u.path is not null and u.status in ('completed', 'running')
    and c.is_draft = 0 and (@projectNums is null or c.project in (select value from json_each(@projectNums)))
`
const FILES = `
  select path, project, edits, reads, chats, lastEditAt, count(*) over () as total
  from (
    select ${relative('u.path')} as path, ${PROJECT_REF},
      count(*) filter (where u.tool in (select value from json_each(@editing))) as edits,
      count(*) filter (where u.tool in (select value from json_each(@reading))) as reads,
      count(distinct m.chat) as chats,
      max(m.created_at) filter (where u.tool in (select value from json_each(@editing))) as lastEditAt
    ${CALLS} and u.tool in (select value from json_each(@reading) union all select value from json_each(@editing))
    group by c.project, 1
  )
  where @like is null or path like @like escape '\\'
  order by lastEditAt desc nulls last, edits desc, path
  limit @limit offset @offset
`
const TOOLS = `select name from names where kind = 'tool'`

/** The names of the tools that read files, and of those that edit them, as JSON. */
export const toolsByUse = cached((db) => {
  const names = prepared<string>(db, TOOLS).pluck().all()
  const named = (use: 'reads' | 'edits'): string => JSON.stringify(names.filter((name) => useOfTool(name) === use))
  return { reading: named('reads'), editing: named('edits') }
})

/** Files that calls read or edited, the last edited first. */
export function listFiles(db: Mirror, request: FilesRequest): Page<FileUse> {
  const { q, limit, offset } = request
  const like = q === null || q === '' ? null : `%${q.replaceAll('\\', '/').replaceAll(/[\\%_]/g, '\\$&')}%`
  const rows = prepared<Row & { readonly total: number }>(db, FILES).all({ ...bind(request), ...toolsByUse(db), like })
  const items = rows.map(({ total, ...row }) => [total, answerRow<FileUse>(row, ['project'])] as const)
  return { items: items.map(([, item]) => item), total: items[0]?.[0] ?? 0, limit, offset }
}

export interface FileHistoryRequest extends PageRequest {
  readonly projectNums: readonly number[] | null
  /** As `listFiles` gives it, or absolute. */
  readonly path: string
}

/** The wide bodies are read only for the page. */
const EDITS = `
  select m.key, u.call, count(*) over () as total
  ${CALLS} and u.tool in (select value from json_each(@editing))
    and ${relative('u.path')} = ${relative('@path')}
  order by m.created_at desc nulls last, m.key desc, u.call desc
  limit @limit offset @offset
`
const EDIT = `
  select c.id as chatId, m.id as messageId, c.title, m.created_at as at, 1 - m.is_live as deletedInCursor, b.parts
  from messages m join chats c on c.num = m.chat join bodies b on b.num = m.body where m.key = ?
`

type PlainEdit = Omit<FileEditAnswer, 'commits'>
type EditRow = Row & { readonly messageId: MessageId; readonly parts: string }

const DIFF_LENGTH_MAX = 200_000

/** The edits of a file, the newest first. */
export function listEdits(db: Mirror, request: FileHistoryRequest): Page<PlainEdit> {
  const { path, limit, offset } = request
  const asked = { ...bind(request), ...toolsByUse(db) }
  return inSnapshot(db, () => {
    const rows = prepared<{ key: number; call: number; total: number }>(db, EDITS).all(asked)
    const items = rows.flatMap(({ key, call }) => {
      const row = prepared<EditRow>(db, EDIT).get(key)
      if (row === undefined) return []
      const { parts, ...columns } = row
      const all = parseParts(parts)
      const part = all.filter((each): each is ToolPart => each.kind === 'tool')[call]
      const edits = part === undefined ? [] : editsWithin(part, all)
      return [{ ...answerRow<Omit<PlainEdit, keyof Said>>(columns), ...said(part, edits, path) }]
    })
    return { items, total: rows[0]?.total ?? 0, limit, offset }
  })
}

type Said = Pick<PlainEdit, 'tool' | 'linesAdded' | 'linesRemoved' | 'diff'>

/** What a call says of one of its files. */
function said(part: ToolPart | undefined, edits: readonly FileEdit[], path: string): Said {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const edit = edits.find((each) => each.path?.endsWith(name)) ?? (edits.length === 1 ? edits[0] : undefined)
  const lines = edit === undefined ? null : countLines(edit)
  const diff = edit === undefined ? null : diffText(edit)
  return {
    tool: part?.name ?? 'unknown',
    linesAdded: lines?.added ?? null,
    linesRemoved: lines?.removed ?? null,
    diff: diff === null || diff.length > DIFF_LENGTH_MAX ? null : diff,
  }
}

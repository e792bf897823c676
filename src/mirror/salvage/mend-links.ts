import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import type { Mirror } from '../open.ts'
import { nextRevision } from '../write/revision.ts'
import type { DamagedFile, NamedRows } from './read-rows.ts'

/** Names that the indexes still tell of rows that are lost. */
interface LostNames {
  readonly sources: NamedRows
  readonly chats: NamedRows
  readonly projects: NamedRows
}

export const readNames = (file: DamagedFile): LostNames => ({
  sources: file.names('sqlite_autoindex_sources_1'),
  chats: file.names('sqlite_autoindex_chats_1'),
  projects: file.names('sqlite_autoindex_projects_2'),
})

/**
 * What was saved may name what was not. A lost source, chat or project gets a row of what its index still says, to be
 * filled by the next pass; a message without its words is no message; and nothing else may lead nowhere.
 * @returns how many messages lost their words
 */
export function mendLinks(db: Mirror, { sources, chats, projects }: LostNames): number {
  const lost = db.prepare(DROP_WORDLESS).run().changes
  db.prepare(DROP_UNUSED).run()
  for (const num of numsOf(db, LOST_SOURCES)) {
    db.prepare(ADD_SOURCE).run(num, nameOf(sources, num))
  }
  for (const num of numsOf(db, LOST_PROJECTS)) {
    const uri = [...projects].find(([, named]) => named === num)?.[0]
    if (uri !== undefined) addProject(db, num, uri)
  }
  for (const num of numsOf(db, LOST_CHATS)) {
    db.prepare(ADD_CHAT).run(num, nameOf(chats, num), num, num, nextRevision(db))
  }
  for (const sql of DANGLING) db.prepare(sql).run()
  return lost
}

const DROP_WORDLESS = `delete from messages where not exists (select 1 from bodies where bodies.num = messages.body)`
const DROP_UNUSED = `delete from bodies where num not in (select body from messages)`

const LOST_SOURCES = `
select source as num from messages union select source from source_rows union select source from outlines
union select source from heads union select source from tracked union select source from scored_commits union select source from workspaces union select source from chats
except select num from sources
`
const LOST_PROJECTS = `
select project as num from evidence union select project from workspaces
union select project from chats where project is not null except select num from projects
`
const LOST_CHATS = `select chat as num from messages union select chat from outlines except select num from chats`

const ADD_SOURCE = `insert into sources (num, id, kind, path, rank, state) values (?, ?, '', '', 99, 'missing')`
const ADD_PROJECT = `insert or ignore into projects (num, id, uri, path, name) values (?, ?, ?, ?, ?)`
const ADD_CHAT = `
insert into chats (num, id, source, format, title, title_source, revision)
values (?, ?, coalesce((select min(source) from messages where chat = ?), (select min(source) from outlines where chat = ?)),
  'split', '', 'none', ?)
`

const DANGLING = [
  `update chats set project = null, project_source = null where project not in (select num from projects)`,
  ...['evidence', 'workspaces'].map((table) => `delete from ${table} where project not in (select num from projects)`),
  ...['asks', 'outlines', 'losses', 'placeholders', 'lent_tokens'].map(
    (table) => `delete from ${table} where chat not in (select num from chats)`,
  ),
  ...['asks', 'row_chats', 'row_issues', 'blob_calls', 'placeholders', 'lent_tokens'].map(
    (table) => `delete from ${table} where source not in (select num from sources)`,
  ),
]

const numsOf = (db: Mirror, sql: string): number[] => db.prepare<[], number>(sql).pluck().all()

/** Where even the index is lost, the words at least keep together. */
const nameOf = (names: NamedRows, num: number): string =>
  [...names].find(([, named]) => named === num)?.[0] ?? `salvaged-${num}`

function addProject(db: Mirror, num: number, uri: string): void {
  const path = URL.canParse(uri) ? decodeURIComponent(new URL(uri).pathname) : uri
  const id = createHash('sha256').update(uri).digest('hex').slice(0, 16)
  db.prepare(ADD_PROJECT).run(num, id, uri, path, basename(path))
}

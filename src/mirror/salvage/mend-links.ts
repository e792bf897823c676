import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import type { Mirror } from '../open.ts'
import { nextRevision } from '../write/revision.ts'
import type { DamagedFile } from './damaged-file.ts'

/**
 * Mends what names a lost row. A lost source, chat or project gets a row with the name that an index still has, and the
 * next pass fills it. A message without its body is removed, and so are other rows that name what is lost.
 * @returns how many messages had lost their bodies
 */
export function mendLinks(db: Mirror, damaged: DamagedFile): number {
  const lost = db.prepare(DROP_WORDLESS).run().changes
  db.prepare(DROP_UNUSED).run()
  const sources = namesIn(damaged, 'sources', 'id')
  for (const num of numsOf(db, LOST_SOURCES)) {
    db.prepare(ADD_SOURCE).run(num, sources.get(num) ?? madeUp(num))
  }
  const projects = namesIn(damaged, 'projects', 'uri')
  for (const num of numsOf(db, LOST_PROJECTS)) {
    const uri = projects.get(num)
    if (uri !== undefined) addProject(db, num, uri)
  }
  const machines = namesIn(damaged, 'machines', 'uuid', 'id')
  for (const id of numsOf(db, LOST_MACHINES)) {
    const uuid = machines.get(id) ?? madeUp(id)
    db.prepare(ADD_MACHINE).run(id, uuid, uuid)
  }
  const chats = namesIn(damaged, 'chats', 'id')
  for (const num of numsOf(db, LOST_CHATS)) {
    db.prepare(ADD_CHAT).run(num, chats.get(num) ?? madeUp(num), num, num, nextRevision(db))
  }
  for (const sql of DANGLING) db.prepare(sql).run()
  return lost
}

function namesIn(damaged: DamagedFile, table: string, column: string, key = 'num'): ReadonlyMap<number, string> {
  const names = new Map<number, string>()
  for (const [num, name] of damaged.indexed(table, [key, column])) {
    if (typeof num === 'bigint' && typeof name === 'string') names.set(Number(num), name)
  }
  return names
}

/** The index is lost too. The messages at least stay together. */
const madeUp = (num: number): string => `salvaged-${num}`

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
const LOST_MACHINES = `select machine from chats where machine is not null except select id from machines`
const LOST_CHATS = `select chat as num from messages union select chat from outlines except select num from chats`

const ADD_SOURCE = `insert into sources (num, id, kind, path, rank, state) values (?, ?, '', '', 99, 'missing')`
const ADD_PROJECT = `insert or ignore into projects (num, id, uri, path, name) values (?, ?, ?, ?, ?)`
/** Its next pull gives it a name again. */
const ADD_MACHINE = `insert into machines (id, uuid, name, user) values (?, ?, ?, '')`
const ADD_CHAT = `
insert into chats (num, id, source, format, title, title_source, revision)
values (?, ?, coalesce((select min(source) from messages where chat = ?), (select min(source) from outlines where chat = ?)),
  'split', '', 'none', ?)
`

const DANGLING = [
  `delete from machines where id not in (select machine from chats where machine is not null)`,
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

function addProject(db: Mirror, num: number, uri: string): void {
  const path = URL.canParse(uri) ? decodeURIComponent(new URL(uri).pathname) : uri
  const id = createHash('sha256').update(uri).digest('hex').slice(0, 16)
  db.prepare(ADD_PROJECT).run(num, id, uri, path, basename(path))
}

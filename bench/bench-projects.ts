import type { Mirror } from '../src/mirror/open.ts'
import Database from '../src/sqlite.ts'

export interface BenchProject {
  readonly num: number
  readonly name: string
}

const FEW_MESSAGES = 50

const ADD_PROJECT = `
  insert into projects (id, uri, path, name) values (@name, 'file:///' || @name, '/' || @name, @name) returning num
`
const CHATS = `select num, message_count as messages from chats where message_count > 0 order by num * 7919 % 10007, num`
const MOVE_CHAT = `update chats set project = ?, project_source = 'files' where num = ?`

/** Moves chats of all ages into two projects: one with about 50 messages, and one with half of the store. */
export function makeBenchProjects(mirrorPath: string): void {
  // Not upgraded: an older program may have made it.
  const db = new Database(mirrorPath)
  try {
    db.transaction(() => {
      const add = (name: string): number => db.prepare<[object], number>(ADD_PROJECT).pluck().get({ name }) ?? 0
      const few = add('few')
      const half = add('half')
      const move = db.prepare(MOVE_CHAT)
      let left = FEW_MESSAGES
      for (const [index, chat] of db.prepare<[], { num: number; messages: number }>(CHATS).all().entries()) {
        if (chat.messages <= left) {
          move.run(few, chat.num)
          left -= chat.messages
        } else if (index % 2 === 0) move.run(half, chat.num)
      }
    })()
  } finally {
    db.close()
  }
}

export const benchProjects = (db: Mirror): readonly BenchProject[] =>
  db.prepare<[], BenchProject>(`select num, name from projects where name in ('few', 'half') order by name`).all()

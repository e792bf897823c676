import type { Mirror } from '../../mirror/open.ts'

export type CompletedKind = 'projects' | 'chats' | 'tools' | 'models' | 'machines'

export interface CompletionValue {
  readonly value: string
  /** Empty if there is none. */
  readonly description: string
}

/** More chats than anyone chooses from a list. With the first characters of an id, far fewer remain. */
const CHATS_MAX = 200

const QUERIES: Readonly<Record<CompletedKind, string>> = {
  projects: `
    select name as value, min(path) as description
    from projects
    where num in (select project from chats where message_count > 0)
    group by name
    order by name
  `,
  // The last character of Unicode ends the range, so SQLite reads only a part of the index of the ids.
  chats: `
    select id as value, title as description
    from chats
    where id >= @start and id < @start || char(1114111) and message_count > 0 and is_draft = 0
    order by last_activity_at desc, num desc
    limit ${CHATS_MAX}
  `,
  tools: `select name as value, '' as description from names where kind = 'tool' order by name`,
  machines: `
    select 'local' as value, 'this machine' as description where exists (select 1 from machines)
    union all select name, group_concat(user, ', ') from machines group by name
  `,
  models: `select name as value, '' as description from names where kind = 'model' order by name`,
}

/** The values of one kind for completion in a shell. Chats are those whose ids have this start, newest first. */
export function readCompletionValues(db: Mirror, kind: CompletedKind, start: string): readonly CompletionValue[] {
  const bound = kind === 'chats' ? [{ start }] : []
  return db.prepare<unknown[], CompletionValue>(QUERIES[kind]).all(...bound)
}

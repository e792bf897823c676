import { indexTerms } from '../../text/terms/terms.ts'
import type { Mirror } from '../open.ts'
import { ATTACHED } from '../index/index-file.ts'

const FORGET_NAMES = `
delete from names where kind = 'model' and name not in (select model from messages where model is not null);
delete from names where kind = 'tool' and 'tool:' || name not in (
  select value from (select distinct marks from messages where marks glob '*tool:*'), json_each(marks)
);
`

/** Removes the names of tools and models that no message has any more. */
export function forgetNames(db: Mirror): void {
  db.pragma('secure_delete = on')
  db.exec(FORGET_NAMES)
}

const TERMS_MAX = 10
const OPEN_PLACES = `
create virtual table temp.message_places using fts5vocab ('${ATTACHED}', 'message_terms', 'instance');
create virtual table temp.chat_places using fts5vocab ('${ATTACHED}', 'chat_terms', 'instance');
`
const HAS_STALE = `
with given as (select value as term from json_each(?))
select 1 from given join message_places using (term) where doc not in (select key from messages)
union all
select 1 from given join chat_places using (term) where doc not in (select num from chats)
`

/**
 * Looks up the ten longest words of a purged text in the vocabulary of the index. The bytes of the index do not show them:
 * it compresses terms, and keeps those of removed rows until it is merged.
 * @returns whether it has one of them in a message or a title that is no more
 */
export function hasStaleWords(db: Mirror, text: string): boolean {
  const terms = [...new Set(indexTerms(text).split(' '))].toSorted((one, other) => other.length - one.length)
  db.pragma('query_only = off')
  db.exec(OPEN_PLACES)
  return db.prepare(HAS_STALE).get(JSON.stringify(terms.slice(0, TERMS_MAX))) !== undefined
}

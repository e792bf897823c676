import { indexTerms } from '../../text/terms/terms.ts'
import type { Mirror } from '../open.ts'
import { forgetSeenTerms } from '../fulltext/terms.ts'

const MERGE = `
insert into message_terms (message_terms) values ('optimize');
insert into chat_terms (chat_terms) values ('optimize');
`
const FORGET_TERMS = `
create virtual table temp.message_words using fts5vocab ('main', 'message_terms', 'row');
create virtual table temp.chat_words using fts5vocab ('main', 'chat_terms', 'row');
delete from terms where term not in (select term from message_words union all select term from chat_words);
drop table temp.message_words;
drop table temp.chat_words;
`
const FORGET_NAMES = `
delete from names where kind = 'model' and name not in (select model from messages where model is not null);
delete from names where kind = 'tool' and 'tool:' || name not in (
  select value from (select distinct marks from messages where marks glob '*tool:*'), json_each(marks)
);
`

/**
 * Removes from the lists of words whatever no message and no chat contains any more: terms, and names of tools and models.
 * The index keeps the terms of removed rows until its segments are merged into one.
 */
export function forgetWords(db: Mirror): void {
  db.pragma('secure_delete = on')
  db.exec(MERGE)
  db.transaction(() => {
    // A message that waits to be indexed adds its terms later.
    db.exec(FORGET_TERMS)
    db.exec(FORGET_NAMES)
  })()
  forgetSeenTerms(db)
}

const TERMS_MAX = 10
const OPEN_PLACES = `
create virtual table temp.message_places using fts5vocab ('main', 'message_terms', 'instance');
create virtual table temp.chat_places using fts5vocab ('main', 'chat_terms', 'instance');
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

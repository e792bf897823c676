/**
 * Why: Cursor records in a database of its own when a chat wrote code and with which model. This dates chats that have no
 * times, and it is evidence for commits. One row for each chat and hour is kept, not one for each recorded line. A chat
 * says whether its model comes from there.
 */
export const tracking = `
create table tracked (
  chat_id text not null,
  source integer not null references sources (num),
  hour integer not null,
  first_at integer not null,
  last_at integer not null,
  models text not null,
  primary key (chat_id, source, hour)
) strict, without rowid;

create table scored_commits (
  sha text not null,
  source integer not null references sources (num),
  chat_lines integer,
  primary key (sha, source)
) strict, without rowid;

alter table chats add column model_source text;
update chats set model_source = 'cursor' where model is not null;
`

/**
 * Why: a page of the full-text index is a row of its own, one to a page of the file. At 16,000 bytes it left 2% of that
 * empty; of the 16,384 a row may fill 16,344 before it needs a second page, and FTS5 goes seven beyond what it is told.
 */
export const fullPages = `
insert into message_terms (message_terms, rank) values ('pgsz', 16320);
`

/**
 * Why: a text that was purged keeps its other copies out, and must not keep out what is said anew.
 *
 * - `until`, epoch milliseconds: what was said later is new; null bars it whenever it was said.
 * - `spares_untimed`: 1 where what nobody knows the time of is not barred, for only what was said before a moment went.
 */
export const tombstonesInTime = `
alter table tombstones add column until integer;
alter table tombstones add column spares_untimed integer not null default 0;
`

/**
 * Why: newer messages write their code into the text, between fences, and `in:code` passed over it. The full-text rows
 * are made anew, so that paths of older messages are found in small letters, too. The marks become what they would be
 * if the messages were read again: else each would count as changed.
 */
export const fencedCode = `
update messages
set marks = replace(replace(marks, ',"in:code"', ''), '"has:code"', '"in:code","has:code"')
where instr(marks, '"has:code"') > 0
  and (instr(marks, '"in:code"') = 0 or instr(marks, '"in:code"') > instr(marks, '"has:code"'));

insert into message_terms (message_terms) values ('delete-all');
insert into unindexed (key) select key from messages where is_shadowed = 0 on conflict do nothing;
`

/**
 * Why: of the time until the first messages of a new mirror can be found, a sixth went into the list of terms, which
 * only `*inside*`, suggestions and the help with a typo are answered from. The messages named here have their full-text
 * rows, and their terms join the list a little later.
 */
export const unlisted = `
create table unlisted (
  key integer primary key
) strict;
`

/**
 * Why: a name with capitals between signs of an unspaced script was not found in small letters, words behind a colour of
 * a terminal or an escape of JSON were not found at all, and a space of no width parted Khmer. The full-text rows of
 * messages and titles are made anew, as the backlog is worked off.
 */
export const namesInUnspacedText = `
insert into message_terms (message_terms) values ('delete-all');
insert into chat_terms (chat_terms) values ('delete-all');
insert into unindexed (key) select key from messages where is_shadowed = 0 on conflict do nothing;
`

/**
 * Why: a source that is known again under another path gets another id, and of the id are made those of messages to which
 * the store gives none. Null where it has the id that it had at first.
 */
export const firstId = `
alter table sources add column first_id text;
`

/**
 * Why: to place all messages of a chat after each two megabytes of it took the memory and the time of a long one many times
 * over. Chats are named here of which some messages stand where they do until the rest is read.
 */
export const unplaced = `
create table unplaced (
  chat integer not null references chats (num) on delete cascade,
  source integer not null references sources (num) on delete cascade,
  primary key (chat, source)
) strict, without rowid;
`

/**
 * Why: Cursor recorded the tokens of a turn on its last row, which may hold nothing to show. Such a row is no message, and
 * its tokens were lost.
 *
 * - `placeholders` holds the rows that record tokens and hold nothing to show, with what decides of their place.
 * - `lent_tokens` says how much of a message's tokens is not its own, but comes from placeholders. The message's own
 *   tokens are what is left, so that they can be shared out anew whenever anything moves.
 */
export const placeholderTokens = `
create table placeholders (
  chat integer not null references chats (num) on delete cascade,
  source integer not null references sources (num),
  id text not null,
  alias text,
  role text not null,
  sent_at integer,
  started_at integer,
  timing_at integer,
  input integer,
  output integer,
  primary key (chat, source, id)
) strict, without rowid;

create table lent_tokens (
  chat integer not null references chats (num) on delete cascade,
  source integer not null references sources (num),
  id text not null,
  input integer not null,
  output integer not null,
  primary key (chat, source, id)
) strict, without rowid;
`

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

/**
 * Why: a newer program may read a store differently.
 *
 * - `sources.decoder` is the version of the decoder that read the source. When it changes, the source is read anew.
 * - `superseded_messages` names messages that only an older decoder yielded. An archive may still hold them; a restore
 *   leaves them out.
 */
export const decoders = `
alter table sources add column decoder integer not null default 1;

create table superseded_messages (
  chat_id text not null,
  id text not null,
  primary key (chat_id, id)
) strict, without rowid;
`

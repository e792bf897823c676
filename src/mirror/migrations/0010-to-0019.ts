/**
 * 0010. Why: a page of the full-text index is one row, on its own page of the file. With 16,000 bytes, 2% of the page stayed
 * empty. Of the 16,384 bytes a row can use 16,344 before it needs a second page, and FTS5 exceeds its setting by up to 7.
 */
export const fullPages = `
insert into message_terms (message_terms, rank) values ('pgsz', 16320);
`

/**
 * 0011. Why: the tombstone of a purged text must block other copies of it, but not the same text in a later message.
 *
 * - `until`: epoch milliseconds. Texts of later messages are new and not blocked. Null blocks the text at any time.
 * - `spares_untimed`: 1 if texts without a known time are not blocked, because the purge covered only earlier texts.
 */
export const tombstonesInTime = `
alter table tombstones add column until integer;
alter table tombstones add column spares_untimed integer not null default 0;
`

/**
 * 0012. Why: newer messages contain their code in the text, between fences, and `in:code` did not find it. The full-text
 * rows are rebuilt, so that paths of older messages are also found in lower case. The marks get the values that a new
 * reading would give: otherwise each message would count as changed.
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
 * 0013. Why: a sixth of the time until a new mirror's first messages are searchable went into the list of terms. Only
 * `*inside*` searches, suggestions and typo correction use that list. The messages in this table have their full-text
 * rows; their terms are added to the list a little later.
 */
export const unlisted = `
create table unlisted (
  key integer primary key
) strict;
`

/**
 * 0014. Why: a mixed-case name inside text of an unspaced script was not found in lower case. Words after a terminal colour
 * code or a JSON escape were not found at all. A zero-width space split Khmer words. The full-text rows of messages and
 * titles are rebuilt through the backlog.
 */
export const namesInUnspacedText = `
insert into message_terms (message_terms) values ('delete-all');
insert into chat_terms (chat_terms) values ('delete-all');
insert into unindexed (key) select key from messages where is_shadowed = 0 on conflict do nothing;
`

/**
 * 0015. Why: a source that moved to another path gets a new id, but the ids of messages without an id of their own are
 * derived from the source's id. Null if the source still has its first id.
 */
export const firstId = `
alter table sources add column first_id text;
`

/**
 * 0016. Why: placing all messages of a chat after every two megabytes multiplied the memory and time for a long chat. This
 * table lists chats whose messages have only temporary places until the rest is read.
 */
export const unplaced = `
create table unplaced (
  chat integer not null references chats (num) on delete cascade,
  source integer not null references sources (num) on delete cascade,
  primary key (chat, source)
) strict, without rowid;
`

/**
 * 0017. Why: Cursor recorded the tokens of a turn on its last row, which may have nothing to show. Such a row is not a
 * message, and its tokens were lost.
 *
 * - `placeholders` contains rows that record tokens but have nothing to show, with the facts that decide their place.
 * - `lent_tokens` records the part of a message's tokens that comes from placeholders. The rest are the message's own
 *   tokens, so the placeholders' tokens can be distributed again when messages move.
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
 * 0018. Why: Cursor records in a separate database when a chat wrote code and with which model. This gives times to chats
 * without times, and it is evidence for commits. There is one row per chat and hour, not one per recorded line.
 * `chats.model_source` records whether the chat's model comes from there.
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
 * 0019. Why: a newer program may decode a store differently.
 *
 * - `sources.decoder` is the version of the decoder that read the source. When it changes, the source is read again.
 * - `superseded_messages` lists messages that only an older decoder yielded. An archive may still have them; a restore
 *   skips them.
 */
export const decoders = `
alter table sources add column decoder integer not null default 1;

create table superseded_messages (
  chat_id text not null,
  id text not null,
  primary key (chat_id, id)
) strict, without rowid;
`

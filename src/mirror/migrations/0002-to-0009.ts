/**
 * Why: the mirror looks after itself, and remembers that it did.
 *
 * - `upkeep` says when each check was last made.
 * - `salvages` names each damaged file that was set aside, and what was saved from it: what has no `done_at` was cut
 *   short and is done again.
 */
export const upkeep = `
create table upkeep (
  task text primary key,
  done_at integer not null
) strict, without rowid;

create table salvages (
  file text primary key,
  begun_at integer not null,
  done_at integer,
  chats integer not null default 0,
  messages integer not null default 0,
  lost integer not null default 0
) strict, without rowid;
`

/**
 * Why: some of what is told stands elsewhere, and some of what changes leaves no trace.
 *
 * - `asks` names what a message's row leaves out and another value of the store may hold; a chat's own ask, with no
 *   message, says that a copy of its thread is kept elsewhere. A number is never used twice, so that whoever answers
 *   knows what is new. `blob_calls` says in which blob the output of a call stands, so that none is read twice to find out.
 * - `sweeps` says how far a comparison of every value of a store has come, and the state of the file that was found
 *   equal to the last byte.
 */
export const asksAndSweeps = `
create table asks (
  num integer primary key autoincrement,
  chat integer not null references chats (num),
  source integer not null references sources (num),
  message_id text not null,
  kind text not null,
  name text not null,
  path text,
  unique (chat, source, message_id, kind, name)
) strict;

create table blob_calls (
  source integer not null references sources (num),
  call_id text not null,
  blob text not null,
  primary key (source, call_id, blob)
) strict, without rowid;

create table sweeps (
  source integer primary key references sources (num),
  verified_signature text,
  signature text,
  after_rowid integer not null,
  started_at integer not null,
  ended_at integer
) strict;
`

/**
 * Why: statistics of half a million messages are asked for, and their bodies would have to be parsed for each answer.
 *
 * - `chat_digests` holds a row of numbers for each chat, see `digests/digest-format.ts`: of each message of the thread
 *   when it was sent and by whom, its model, its calls of tools and the files that they name. It is written with the
 *   messages. One row a chat, and not one a call: reading few long rows is what makes the answer quick.
 * - `digest_words` gives those names their numbers.
 * - `undigested` names the chats of which no digest was made yet, as all are that were written before.
 *
 * All three follow from `messages` and `bodies`.
 */
export const chatDigests = `
create table digest_words (
  num integer primary key,
  word text not null unique
) strict;

create table chat_digests (
  chat integer primary key references chats (num) on delete cascade,
  entries blob not null
) strict;

create table undigested (
  chat integer primary key references chats (num) on delete cascade
) strict;

insert into undigested (chat) select num from chats;
`

/**
 * Why: tokens are told with where each number comes from.
 *
 * - `messages.estimated_input` and `estimated_output` are counts over the message's own text. They stand beside the
 *   content hash that they were made of, a rewritten body takes them away, and null is: not counted yet. In the row
 *   itself, because a sum over half a million messages cannot afford to look each of them up elsewhere.
 * - `token_counts` is all that a sum by chat, project or model reads; `recorded_tokens` the few messages on which the
 *   numbers were recorded.
 * - `usage_events` are the rows of files that the user downloaded and handed in. `identity` is made of what a row says,
 *   and `occurrence` tells equal rows of one file apart: a file that overlaps with an earlier one adds nothing twice.
 *   `chat` is the chat to which a row could be matched.
 */
export const tokenLedger = `
alter table messages add column estimated_input integer;
alter table messages add column estimated_output integer;
create index token_counts on messages
  (chat, model, created_at, estimated_input, estimated_output) where is_orphan = 0;
create index recorded_tokens on messages
  (chat, model, created_at, input_tokens, output_tokens, estimated_input, estimated_output)
  where is_orphan = 0 and (input_tokens > 0 or output_tokens > 0);

create table usage_events (
  num integer primary key,
  identity text not null,
  occurrence integer not null,
  at integer not null,
  kind text,
  model text,
  user text,
  input integer,
  output integer,
  cache_read integer,
  cache_write integer,
  total integer,
  cents real,
  chat integer references chats (num),
  imported_at integer not null,
  unique (identity, occurrence)
) strict;
create index usage_events_by_time on usage_events (at);
`

/**
 * Why: an archive says of each chat which revision of it was archived, and a revision counts within one mirror only. A
 * mirror that is made anew, after damage or by hand, is another one.
 */
export const identity = `
create table identity (
  id text primary key
) strict;
insert into identity (id) values (lower(hex(randomblob(16))));
`

/**
 * Why: a search within a project asks of each message that it meets which chat it is of. The rows of messages are long,
 * and those of 2,000 matches lie on as many pages; this holds forty times as many messages to a page.
 */
export const chatOfMessage = `
create index chat_of_message on messages (key, chat);
`

/**
 * Why: what a person removed for good stays removed, though Cursor holds it still and an archive elsewhere may.
 *
 * - `tombstones` names it by keyed hashes: a chat, a message of a chat, or a text that stood in a message. Of a text the
 *   number of its signs is kept beside it, so that few of all texts that are read need to be hashed.
 * - `purge_salt` is what hashes of ids are keyed with. Texts may be short: the key to theirs lies in a file of its own.
 * - `purges` says how far each purge has come, and `purge_targets` what it has yet to remove: one that was cut short is
 *   ended by whoever opens the mirror next.
 */
export const purges = `
create table tombstones (
  kind text not null,
  hash text not null,
  size integer,
  primary key (kind, hash)
) strict, without rowid;
create index tombstone_sizes on tombstones (size) where size is not null;

create table purge_salt (
  salt text primary key
) strict, without rowid;

create table purges (
  num integer primary key,
  begun_at integer not null,
  removed_at integer,
  archives_at integer,
  compacted_at integer
) strict;

create table purge_targets (
  kind text not null,
  name text not null,
  primary key (kind, name)
) strict, without rowid;
`

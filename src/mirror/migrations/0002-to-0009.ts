/**
 * 0002. Why: the mirror checks and repairs itself, and records that.
 *
 * - `upkeep` records when each check was last done.
 * - `salvages` lists each damaged file that was set aside, and how much was saved from it. A salvage without `done_at` was
 *   interrupted and is repeated.
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
 * 0003. Why: some content of a message is in other values of the store, and some changes can only be found by comparing
 * every value.
 *
 * - `asks` contains pending references: content that a message's row does not contain and that another value may have. A
 *   reference of the chat itself, without a message, means that another value has a copy of its thread. Numbers are never
 *   reused, so readers can tell which references are new. `blob_calls` maps a call to the blob with its output, so no blob
 *   is read twice to find it.
 * - `sweeps` records the progress of comparing every value of a store, and the state of the file that was completely equal.
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
 * 0005. Why: statistics cover half a million messages. Without digests, each answer would have to parse all bodies.
 *
 * - `chat_digests` has an array of numbers for each chat, see `digests/digest-format.ts`: for each message of the thread its
 *   time, role, model, tool calls and the files that these name. It is written together with the messages. One row per
 *   chat and not per call: reading few long rows makes the answer fast.
 * - `digest_words` assigns numbers to these names.
 * - `undigested` lists the chats without a digest. At first these are all chats that were written before.
 *
 * All three can be rebuilt from `messages` and `bodies`.
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
 * 0006. Why: token counts are shown together with their origin.
 *
 * - `messages.estimated_input` and `estimated_output` are counts over the message's own text. They belong to the content hash
 *   in the same row and are cleared when the body is rewritten; null means not counted yet. They are columns of the message itself, because a sum over half a million
 *   messages cannot look up each one in another table.
 * - The index `token_counts` contains all that a sum by chat, project or model reads; `recorded_tokens` covers the few
 *   messages with recorded counts.
 * - `usage_events` contains the rows of usage files that the user downloaded and imported. `identity` is derived from the
 *   row's content, and `occurrence` numbers equal rows of one file, so overlapping files add no duplicates. `chat` is the
 *   chat that was matched to the row.
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
 * 0007. Why: an archive records the archived revision of each chat, and revisions are only comparable within one mirror. A
 * mirror that was rebuilt, after damage or by hand, is another mirror.
 */
export const identity = `
create table identity (
  id text primary key
) strict;
insert into identity (id) values (lower(hex(randomblob(16))));
`

/**
 * 0008. Why: a search within a project needs the chat of each match. Rows of `messages` are long, so 2,000 matches are on
 * as many pages. This index has forty times as many messages per page.
 */
export const chatOfMessage = `
create index chat_of_message on messages (key, chat);
`

/**
 * 0009. Why: purged data must stay removed, although Cursor, or an archive elsewhere, may still have it.
 *
 * - `tombstones` identifies purged data by keyed hashes: a chat, a message of a chat, or a text of a message. For a text its
 *   number of characters is stored too, so only few of the texts that are read need to be hashed.
 * - `purge_salt` is the key of the hashes of ids. Texts may be short and easy to guess, so their key is in a separate file.
 * - `purges` records the progress of each purge, and `purge_targets` what it still has to remove. The next program that
 *   opens the mirror completes an interrupted purge.
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

/**
 * Why: the first schema.
 *
 * - `sources` and `source_rows` record what was read from where. The position and the rows that it covers are written in
 *   one transaction, so a killed pass causes neither gaps nor duplicates.
 * - `messages` is dense and contains no text, so filters over many hits stay cheap. `bodies` contains the parts, in the
 *   order of writing: chats are read newest first, so bodies under their messages' keys would leave every page half empty.
 * - `messages.key` grows with the message's time (see `key-allocator.ts`). So newest-first search walks down the full-text
 *   index by rowid, and a date range is a rowid range, no matter how late a message was indexed.
 * - `unindexed` lists the messages that are stored but not yet searchable. A first pass over a large store writes their
 *   full-text rows after everything else.
 * - Several sources may have one chat. `sources.rank` gives their precedence, lowest first. Each source keeps its own rows
 *   of the chat, so what one loses another still has. `messages.is_orphan` is 2 for a message that only repeats content of
 *   the thread. `outlines` records the state of the chat's own row in each source.
 * - `heads` stores the metadata that each list has of a chat, and also that of the chat's own row, so each can be read
 *   again without the others. The columns of `chats` are computed from it.
 * - `source_rows.missed_at` marks rows that vanished together with too many others: it may be an accident, so they count as
 *   held until that is confirmed. `losses` has one entry for each thing that Cursor deleted, as a person would count them: a
 *   chat that was deleted as a whole is one entry.
 * - `messages.marks` describes a message apart from its words: the kinds of its parts, its tools, its errors. A column of
 *   the full-text table contains the same as terms that no text contains, and also the paths. So one index answers all
 *   conditions. `names` lists the known tools and models; `terms` lists the terms, for searches inside words.
 * - The full-text tables are contentless: they can be dropped and rebuilt from `bodies` and `chats`. `text/` already splits
 *   their input into terms, so the simplest tokenizer is enough: ASCII letters, digits and everything beyond ASCII are
 *   term characters. An index page fills a page of the file; FTS5 buffers 32 MB before it writes; merging waits for 16
 *   segments, which halves the work of a first pass.
 */
export const rowsAndTerms = `
create table sources (
  num integer primary key,
  id text not null unique,
  kind text not null,
  path text not null,
  rank integer not null,
  state text not null,
  detail text,
  identity text,
  signature text,
  watermark integer,
  watermark_key text,
  counted_at integer,
  total_rows integer not null default 0,
  null_keys integer not null default 0,
  last_sync_at integer,
  reconciled_at integer
) strict;

create table source_rows (
  source integer not null references sources (num),
  key text not null,
  source_rowid integer not null,
  octets integer not null,
  checksum integer,
  is_live integer not null,
  missed_at integer,
  primary key (source, key)
) strict, without rowid;
create index missed_rows on source_rows (source, missed_at) where missed_at is not null;

create table row_chats (
  source integer not null references sources (num),
  key text not null,
  chat_id text not null,
  primary key (source, key, chat_id)
) strict, without rowid;

create table row_issues (
  source integer not null references sources (num),
  key text not null,
  reason text not null,
  octets integer,
  noted_at integer not null,
  primary key (source, key)
) strict, without rowid;

create table projects (
  num integer primary key,
  id text not null unique,
  uri text not null unique,
  path text not null,
  name text not null,
  remote_kind text,
  remote_host text
) strict;
create index projects_by_name on projects (name);
create index projects_by_path on projects (path);

create table workspaces (
  id text not null,
  source integer not null references sources (num),
  uri text not null,
  project integer not null references projects (num),
  primary key (source, id)
) strict, without rowid;
create index workspaces_by_project on workspaces (project);

create table evidence (
  chat_id text not null,
  method text not null,
  project integer not null references projects (num),
  rank integer not null,
  noted_at integer not null,
  primary key (chat_id, method, project)
) strict, without rowid;

create table chat_paths (
  chat_id text not null,
  uri text not null,
  primary key (chat_id, uri)
) strict, without rowid;

create table heads (
  chat_id text not null,
  source integer not null references sources (num),
  list text not null,
  name text,
  created_at integer,
  updated_at integer,
  mode text,
  branch text,
  is_archived integer,
  is_draft integer,
  is_subagent integer,
  parent_chat_id text,
  lines_added integer,
  lines_removed integer,
  files_changed integer,
  primary key (chat_id, source, list)
) strict, without rowid;

create table chats (
  num integer primary key,
  id text not null unique,
  source integer not null references sources (num),
  format text not null,
  name text,
  title text not null,
  title_source text not null,
  summary text,
  todos text,
  project integer references projects (num),
  project_source text,
  cursor_created_at integer,
  cursor_updated_at integer,
  created_at integer,
  last_activity_at integer,
  mode text,
  branch text,
  cursor_model text,
  model text,
  models text not null default '[]',
  status text,
  is_archived integer not null default 0,
  is_draft integer not null default 0,
  is_subagent integer not null default 0,
  parent_chat_id text,
  own_row text not null default 'none',
  is_live integer not null default 1,
  deleted_at integer,
  lines_added integer,
  lines_removed integer,
  files_changed integer,
  context_used real,
  context_limit real,
  recorded_cost_cents real,
  octets integer not null default 0,
  message_count integer not null default 0,
  user_message_count integer not null default 0,
  tool_call_count integer not null default 0,
  size_bytes integer not null default 0,
  revision integer not null
) strict;
create index chats_by_activity on chats (last_activity_at);
create index chats_by_project on chats (project, last_activity_at);
create index chats_by_revision on chats (revision);
create index chats_by_parent on chats (parent_chat_id) where parent_chat_id is not null;

create table chat_links (
  parent_id text not null,
  child_id text not null,
  primary key (parent_id, child_id)
) strict, without rowid;
create index chat_links_by_child on chat_links (child_id);

create table outlines (
  chat integer not null references chats (num),
  source integer not null references sources (num),
  entries text not null,
  own_row text not null,
  primary key (chat, source)
) strict;

create table messages (
  key integer primary key,
  chat integer not null references chats (num),
  source integer not null references sources (num),
  body integer not null,
  id text not null,
  role text not null,
  alias text,
  position integer,
  created_at integer,
  created_at_source text,
  sent_at integer,
  started_at integer,
  timing_at integer,
  model text,
  input_tokens integer,
  output_tokens integer,
  is_orphan integer not null,
  is_shadowed integer not null,
  is_simulated integer not null,
  is_embedded integer not null,
  is_live integer not null,
  deleted_at integer,
  tool_calls integer not null,
  octets integer not null,
  content_hash text not null,
  user_text integer,
  text_keys text,
  marks text not null default '[]',
  is_index_capped integer not null,
  unique (chat, id, source)
) strict;
create index messages_by_chat on messages (chat, position, key);
create index user_texts on messages (user_text) where user_text is not null;
create index orphans on messages (chat) where is_orphan = 1;
create index copies on messages (chat) where is_orphan = 2;
create index gone_messages on messages (deleted_at) where is_live = 0;

create table losses (
  chat integer not null references chats (num),
  kind text not null,
  message_id text not null,
  at integer not null,
  primary key (chat, kind, message_id)
) strict, without rowid;
create index losses_by_time on losses (at, chat, kind, message_id);

create table bodies (
  num integer primary key,
  parts text not null
) strict;

create table names (
  kind text not null,
  name text not null,
  primary key (kind, name)
) strict, without rowid;

create table terms (
  term text primary key
) strict, without rowid;

create table unindexed (
  key integer primary key
) strict;

create virtual table message_terms using fts5 (
  text, thinking, code, tool, attachment, marks,
  content = '', contentless_delete = 1, tokenize = 'ascii'
);

create virtual table chat_terms using fts5 (
  title, summary,
  content = '', contentless_delete = 1, tokenize = 'ascii'
);

insert into message_terms (message_terms, rank) values ('pgsz', 16000);
insert into message_terms (message_terms, rank) values ('hashsize', 33554432);
insert into message_terms (message_terms, rank) values ('automerge', 16);
`

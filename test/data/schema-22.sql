-- The mirror of schema 22, the oldest that is upgraded.
CREATE TABLE sources (
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
, first_id text, decoder integer not null default 1) strict;
CREATE TABLE source_rows (
  source integer not null references sources (num),
  key text not null,
  source_rowid integer not null,
  octets integer not null,
  checksum integer,
  is_live integer not null,
  missed_at integer,
  primary key (source, key)
) strict, without rowid;
CREATE INDEX missed_rows on source_rows (source, missed_at) where missed_at is not null;
CREATE TABLE row_chats (
  source integer not null references sources (num),
  key text not null,
  chat_id text not null,
  primary key (source, key, chat_id)
) strict, without rowid;
CREATE TABLE row_issues (
  source integer not null references sources (num),
  key text not null,
  reason text not null,
  octets integer,
  noted_at integer not null,
  primary key (source, key)
) strict, without rowid;
CREATE TABLE projects (
  num integer primary key,
  id text not null unique,
  uri text not null unique,
  path text not null,
  name text not null,
  remote_kind text,
  remote_host text
) strict;
CREATE INDEX projects_by_name on projects (name);
CREATE INDEX projects_by_path on projects (path);
CREATE TABLE workspaces (
  id text not null,
  source integer not null references sources (num),
  uri text not null,
  project integer not null references projects (num),
  primary key (source, id)
) strict, without rowid;
CREATE INDEX workspaces_by_project on workspaces (project);
CREATE TABLE evidence (
  chat_id text not null,
  method text not null,
  project integer not null references projects (num),
  rank integer not null,
  noted_at integer not null,
  primary key (chat_id, method, project)
) strict, without rowid;
CREATE TABLE chat_paths (
  chat_id text not null,
  uri text not null,
  primary key (chat_id, uri)
) strict, without rowid;
CREATE TABLE heads (
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
CREATE TABLE chats (
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
, model_source text, machine integer references machines (id)) strict;
CREATE INDEX chats_by_activity on chats (last_activity_at);
CREATE INDEX chats_by_project on chats (project, last_activity_at);
CREATE INDEX chats_by_revision on chats (revision);
CREATE INDEX chats_by_parent on chats (parent_chat_id) where parent_chat_id is not null;
CREATE TABLE chat_links (
  parent_id text not null,
  child_id text not null,
  primary key (parent_id, child_id)
) strict, without rowid;
CREATE INDEX chat_links_by_child on chat_links (child_id);
CREATE TABLE outlines (
  chat integer not null references chats (num),
  source integer not null references sources (num),
  entries text not null,
  own_row text not null,
  primary key (chat, source)
) strict;
CREATE TABLE messages (
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
  is_index_capped integer not null, estimated_input integer, estimated_output integer,
  unique (chat, id, source)
) strict;
CREATE INDEX messages_by_chat on messages (chat, position, key);
CREATE INDEX user_texts on messages (user_text) where user_text is not null;
CREATE INDEX orphans on messages (chat) where is_orphan = 1;
CREATE INDEX copies on messages (chat) where is_orphan = 2;
CREATE INDEX gone_messages on messages (deleted_at) where is_live = 0;
CREATE TABLE losses (
  chat integer not null references chats (num),
  kind text not null,
  message_id text not null,
  at integer not null,
  primary key (chat, kind, message_id)
) strict, without rowid;
CREATE INDEX losses_by_time on losses (at, chat, kind, message_id);
CREATE TABLE bodies (
  num integer primary key,
  parts text not null
) strict;
CREATE TABLE names (
  kind text not null,
  name text not null,
  primary key (kind, name)
) strict, without rowid;
CREATE TABLE terms (
  term text primary key
) strict, without rowid;
CREATE TABLE unindexed (
  key integer primary key
) strict;
CREATE VIRTUAL TABLE message_terms using fts5 (
  text, thinking, code, tool, attachment, marks,
  content = '', contentless_delete = 1, tokenize = 'ascii'
);
CREATE VIRTUAL TABLE chat_terms using fts5 (
  title, summary,
  content = '', contentless_delete = 1, tokenize = 'ascii'
);
CREATE TABLE upkeep (
  task text primary key,
  done_at integer not null
) strict, without rowid;
CREATE TABLE salvages (
  file text primary key,
  begun_at integer not null,
  done_at integer,
  chats integer not null default 0,
  messages integer not null default 0,
  lost integer not null default 0
) strict, without rowid;
CREATE TABLE asks (
  num integer primary key autoincrement,
  chat integer not null references chats (num),
  source integer not null references sources (num),
  message_id text not null,
  kind text not null,
  name text not null,
  path text,
  unique (chat, source, message_id, kind, name)
) strict;
CREATE TABLE blob_calls (
  source integer not null references sources (num),
  call_id text not null,
  blob text not null,
  primary key (source, call_id, blob)
) strict, without rowid;
CREATE TABLE sweeps (
  source integer primary key references sources (num),
  verified_signature text,
  signature text,
  after_rowid integer not null,
  started_at integer not null,
  ended_at integer
) strict;
CREATE TABLE digest_words (
  num integer primary key,
  word text not null unique
) strict;
CREATE TABLE chat_digests (
  chat integer primary key references chats (num) on delete cascade,
  entries blob not null
) strict;
CREATE TABLE undigested (
  chat integer primary key references chats (num) on delete cascade
) strict;
CREATE INDEX token_counts on messages
  (chat, model, created_at, estimated_input, estimated_output) where is_orphan = 0;
CREATE INDEX recorded_tokens on messages
  (chat, model, created_at, input_tokens, output_tokens, estimated_input, estimated_output)
  where is_orphan = 0 and (input_tokens > 0 or output_tokens > 0);
CREATE TABLE usage_events (
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
CREATE INDEX usage_events_by_time on usage_events (at);
CREATE TABLE identity (
  id text primary key
) strict;
CREATE TABLE tombstones (
  kind text not null,
  hash text not null,
  size integer, until integer, spares_untimed integer not null default 0,
  primary key (kind, hash)
) strict, without rowid;
CREATE INDEX tombstone_sizes on tombstones (size) where size is not null;
CREATE TABLE purge_salt (
  salt text primary key
) strict, without rowid;
CREATE TABLE purges (
  num integer primary key,
  begun_at integer not null,
  removed_at integer,
  archives_at integer,
  compacted_at integer
) strict;
CREATE TABLE purge_targets (
  kind text not null,
  name text not null,
  primary key (kind, name)
) strict, without rowid;
CREATE TABLE unlisted (
  key integer primary key
) strict;
CREATE TABLE unplaced (
  chat integer not null references chats (num) on delete cascade,
  source integer not null references sources (num) on delete cascade,
  primary key (chat, source)
) strict, without rowid;
CREATE TABLE placeholders (
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
CREATE TABLE lent_tokens (
  chat integer not null references chats (num) on delete cascade,
  source integer not null references sources (num),
  id text not null,
  input integer not null,
  output integer not null,
  primary key (chat, source, id)
) strict, without rowid;
CREATE TABLE tracked (
  chat_id text not null,
  source integer not null references sources (num),
  hour integer not null,
  first_at integer not null,
  last_at integer not null,
  models text not null,
  primary key (chat_id, source, hour)
) strict, without rowid;
CREATE TABLE scored_commits (
  sha text not null,
  source integer not null references sources (num),
  chat_lines integer,
  primary key (sha, source)
) strict, without rowid;
CREATE TABLE superseded_messages (
  chat_id text not null,
  id text not null,
  primary key (chat_id, id)
) strict, without rowid;
CREATE TABLE machines (
  id integer primary key,
  uuid text not null unique,
  name text not null,
  user text not null
) strict;
CREATE INDEX chats_by_machine on chats (machine) where machine is not null;
CREATE TABLE token_sums (
  quarter integer not null,
  chat integer not null,
  model text not null,
  messages integer not null,
  estimated integer not null,
  input integer not null,
  output integer not null,
  primary key (quarter, chat, model)
) strict, without rowid;
CREATE TRIGGER message_counted after insert on messages when new.is_orphan = 0 begin 
  insert into token_sums (quarter, chat, model, messages, estimated, input, output)
  values (coalesce((new.created_at - (new.created_at % 900000 + 900000) % 900000) / 900000, -1000000000000000), new.chat, coalesce(new.model, ''), 1, new.estimated_input is not null,
    coalesce(new.estimated_input, 0), coalesce(new.estimated_output, 0))
  on conflict do update set messages = messages + 1, estimated = estimated + excluded.estimated,
    input = input + excluded.input, output = output + excluded.output;
 end;
CREATE TRIGGER message_uncounted after delete on messages when old.is_orphan = 0 begin 
  update token_sums set messages = messages - 1, estimated = estimated - (old.estimated_input is not null),
    input = input - coalesce(old.estimated_input, 0), output = output - coalesce(old.estimated_output, 0)
  where (quarter, chat, model) = (coalesce((old.created_at - (old.created_at % 900000 + 900000) % 900000) / 900000, -1000000000000000), old.chat, coalesce(old.model, ''));
  delete from token_sums where (quarter, chat, model) = (coalesce((old.created_at - (old.created_at % 900000 + 900000) % 900000) / 900000, -1000000000000000), old.chat, coalesce(old.model, '')) and messages = 0;
 end;
CREATE TRIGGER message_no_more_counted after update of chat, model, created_at, is_orphan, estimated_input, estimated_output on messages
when old.is_orphan = 0 and (old.chat is not new.chat or old.model is not new.model or old.created_at is not new.created_at or old.is_orphan is not new.is_orphan or old.estimated_input is not new.estimated_input or old.estimated_output is not new.estimated_output) begin 
  update token_sums set messages = messages - 1, estimated = estimated - (old.estimated_input is not null),
    input = input - coalesce(old.estimated_input, 0), output = output - coalesce(old.estimated_output, 0)
  where (quarter, chat, model) = (coalesce((old.created_at - (old.created_at % 900000 + 900000) % 900000) / 900000, -1000000000000000), old.chat, coalesce(old.model, ''));
  delete from token_sums where (quarter, chat, model) = (coalesce((old.created_at - (old.created_at % 900000 + 900000) % 900000) / 900000, -1000000000000000), old.chat, coalesce(old.model, '')) and messages = 0;
 end;
CREATE TRIGGER message_counted_again after update of chat, model, created_at, is_orphan, estimated_input, estimated_output on messages
when new.is_orphan = 0 and (old.chat is not new.chat or old.model is not new.model or old.created_at is not new.created_at or old.is_orphan is not new.is_orphan or old.estimated_input is not new.estimated_input or old.estimated_output is not new.estimated_output) begin 
  insert into token_sums (quarter, chat, model, messages, estimated, input, output)
  values (coalesce((new.created_at - (new.created_at % 900000 + 900000) % 900000) / 900000, -1000000000000000), new.chat, coalesce(new.model, ''), 1, new.estimated_input is not null,
    coalesce(new.estimated_input, 0), coalesce(new.estimated_output, 0))
  on conflict do update set messages = messages + 1, estimated = estimated + excluded.estimated,
    input = input + excluded.input, output = output + excluded.output;
 end;
CREATE TABLE live_rows (
  source integer primary key,
  count integer not null
) strict;
CREATE TRIGGER row_counted after insert on source_rows when new.is_live = 1 begin
  insert into live_rows values (new.source, 1) on conflict do update set count = count + 1;
end;
CREATE TRIGGER row_uncounted after delete on source_rows when old.is_live = 1 begin
  update live_rows set count = count - 1 where source = old.source;
end;
CREATE TRIGGER row_recounted after update of source, is_live on source_rows
when old.is_live <> new.is_live or old.source <> new.source begin
  update live_rows set count = count - old.is_live where source = old.source;
  insert into live_rows values (new.source, new.is_live) on conflict do update set count = count + new.is_live;
end;
CREATE TABLE hub_state (
  key text primary key,
  value text not null
) strict, without rowid;
CREATE TABLE hub_values (
  num integer primary key autoincrement,
  value text not null unique
) strict;
CREATE TABLE hub_names (
  uri text primary key,
  name text not null
) strict, without rowid;
CREATE INDEX hub_names_by_name on hub_names (name);
CREATE TABLE hub_ledger (
  machine text not null,
  chat text not null,
  project text not null,
  sequence integer not null,
  state text not null,
  activity integer,
  messages integer,
  primary key (machine, chat)
) strict, without rowid;
CREATE INDEX hub_ledger_by_chat on hub_ledger (chat);
CREATE TABLE hub_purges (
  num integer primary key autoincrement,
  chat text not null,
  message text
) strict;
CREATE INDEX message_facts on messages (key, chat, role, model, is_live, is_orphan);
insert into identity (id) values (lower(hex(randomblob(16))));
insert into message_terms (message_terms, rank) values ('pgsz', 16320);
insert into message_terms (message_terms, rank) values ('hashsize', 33554432);
insert into message_terms (message_terms, rank) values ('automerge', 16);
pragma user_version = 22;

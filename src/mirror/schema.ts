import { statSync } from 'node:fs'
import { requireRegular } from '../regular-file.ts'
import Database from '../sqlite.ts'
import { UserError } from '../model/user-error.ts'
import { mirrorDamaged } from './damage/find-damage.ts'
import type { Mirror } from './open.ts'
import { CHANGE_TABLES, LEAVE_FORMER_INDEX } from './index/index-file.ts'
import { DURATION, SUM_TABLES, SUM_UP } from './sum-tables.ts'

/** A message of a thread with tokens that Cursor recorded. */
export const RECORDED = `is_orphan = 0 and (input_tokens > 0 or output_tokens > 0)`

/** The tables of a new mirror. A column that is added here is also added by one of `steps`. */
const TABLES = `
-- What was read from where. The position and the rows that it covers are written in one transaction, so a killed pass
-- causes neither gaps nor duplicates. Several sources may have one chat: the one with the lowest rank gives its order.
-- first_id: not used any more.
-- decoder: the version of the decoder that read the source. When it changes, the source is read again.
create table sources (
  num integer primary key, id text not null unique, kind text not null, path text not null, rank integer not null,
  state text not null, detail text, identity text, signature text, watermark integer, watermark_key text,
  counted_at integer, total_rows integer not null default 0, null_keys integer not null default 0,
  last_sync_at integer, reconciled_at integer,
  first_id text, decoder integer not null default 1
) strict;

-- missed_at: rows that vanished with too many others. It may be an accident: they count as held until it is confirmed.
create table source_rows (
  source integer not null references sources (num), key text not null,
  source_rowid integer not null, octets integer not null, checksum integer,
  is_live integer not null, missed_at integer,
  primary key (source, key)
) strict, without rowid;
create index missed_rows on source_rows (source, missed_at) where missed_at is not null;

-- Which chats a row has something of.
create table row_chats (
  source integer not null references sources (num), key text not null, chat_id text not null,
  primary key (source, key, chat_id)
) strict, without rowid;

-- Rows that could not be read, or not whole, and why.
create table row_issues (
  source integer not null references sources (num), key text not null,
  reason text not null, octets integer, noted_at integer not null,
  primary key (source, key)
) strict, without rowid;

-- How far every value of a store was compared, and the state of the file that was equal as a whole.
create table sweeps (
  source integer primary key references sources (num),
  verified_signature text, signature text, after_rowid integer not null, started_at integer not null, ended_at integer
) strict;

-- belongs_to: the repository of a working tree, or the folder with the working trees of one repository, or what that folder
-- stands for. The chats of a project that belongs to another one are that one's. belongs_how: 'named' by the working tree
-- itself, else 'found'.
create table projects (
  num integer primary key, id text not null unique, uri text not null unique, path text not null, name text not null,
  remote_kind text, remote_host text, belongs_to integer references projects (num), belongs_how text
) strict;
create index projects_by_owner on projects (belongs_to) where belongs_to is not null;
create index projects_by_name on projects (name);
create index projects_by_path on projects (path);

create table workspaces (
  id text not null, source integer not null references sources (num), uri text not null,
  project integer not null references projects (num),
  primary key (source, id)
) strict, without rowid;
create index workspaces_by_project on workspaces (project);

-- Why a chat may belong to a project. It is kept, so a later finding can move the chat.
create table evidence (
  chat_id text not null, method text not null, project integer not null references projects (num),
  rank integer not null, noted_at integer not null,
  primary key (chat_id, method, project)
) strict, without rowid;
create table chat_paths (chat_id text not null, uri text not null, primary key (chat_id, uri)) strict, without rowid;

-- What each list, and the chat's own row, says of a chat. The columns of chats are computed from it.
create table chat_metadata (
  chat_id text not null, source integer not null references sources (num), list text not null,
  name text, created_at integer, updated_at integer, mode text, branch text,
  is_archived integer, is_draft integer, is_subagent integer, parent_chat_id text,
  lines_added integer, lines_removed integer, files_changed integer,
  primary key (chat_id, source, list)
) strict, without rowid;

-- machine: null for a chat of this machine. model_source: who said the model, Cursor's chat or its tracking database.
-- duration_ms: from the first to the last message with a time of its own; null for fewer than two.
-- worktree: the working tree in which it ran; its project is then the repository.
-- preview: beginnings of its messages, while the chat has none here.
create table chats (
  num integer primary key, id text not null unique, source integer not null references sources (num),
  format text not null, name text, title text not null, title_source text not null, summary text, todos text,
  project integer references projects (num), project_source text,
  cursor_created_at integer, cursor_updated_at integer, created_at integer, last_activity_at integer,
  mode text, branch text, cursor_model text, model text, models text not null default '[]', status text,
  is_archived integer not null default 0, is_draft integer not null default 0,
  is_subagent integer not null default 0, parent_chat_id text,
  own_row text not null default 'none', is_live integer not null default 1, deleted_at integer,
  lines_added integer, lines_removed integer, files_changed integer,
  context_used real, context_limit real, recorded_cost_cents real,
  octets integer not null default 0, message_count integer not null default 0,
  user_message_count integer not null default 0, tool_call_count integer not null default 0,
  size_bytes integer not null default 0, revision integer not null,
  model_source text, machine integer references machines (id), duration_ms integer,
  worktree integer references projects (num), preview text, context_items text
) strict;
create index chats_by_activity on chats (last_activity_at);
create index chats_by_project on chats (project, last_activity_at);
create index chats_by_revision on chats (revision);
create index chats_by_parent on chats (parent_chat_id) where parent_chat_id is not null;
create index chats_by_worktree on chats (worktree) where worktree is not null;
create index chats_by_machine on chats (machine) where machine is not null;

create table chat_links (
  parent_id text not null, child_id text not null,
  primary key (parent_id, child_id)
) strict, without rowid;
create index chat_links_by_child on chat_links (child_id);

-- The machines that chats were pulled from, and none without a chat. uuid: that of the machine's mirror. user: the
-- database role that owns it.
create table machines (
  id integer primary key, uuid text not null unique, name text not null, user text not null
) strict;

-- The state of the chat's own row in each source.
create table outlines (
  chat integer not null references chats (num), source integer not null references sources (num),
  entries text not null, own_row text not null,
  primary key (chat, source)
) strict;

-- Dense and without text, so filters over many hits stay cheap. key grows with the message's time and is the rowid of
-- its row in the index: newest first is a walk down the index, and a date range is a range of rowids.
-- is_orphan: 1 if the thread does not name the message, 2 if it only repeats content of the thread.
-- marks: the kinds of its parts, its tools, its errors. estimated_*: null means not estimated.
-- request_id: Cursor's id of the request, of messages with recorded tokens only. A copy of a message has the same.
create table messages (
  key integer primary key, chat integer not null references chats (num),
  source integer not null references sources (num), body integer not null, id text not null, role text not null,
  alias text, position integer, created_at integer, created_at_source text,
  sent_at integer, started_at integer, timing_at integer,
  model text, input_tokens integer, output_tokens integer,
  is_orphan integer not null, is_shadowed integer not null, is_simulated integer not null,
  is_embedded integer not null, is_live integer not null, deleted_at integer,
  tool_calls integer not null, octets integer not null, content_hash text not null,
  user_text integer, text_keys text, marks text not null default '[]', is_index_capped integer not null,
  estimated_input integer, estimated_output integer, request_id text,
  unique (chat, id, source)
) strict;
create index messages_by_chat on messages (chat, position, key);
create index user_texts on messages (user_text) where user_text is not null;
create index orphans on messages (chat) where is_orphan = 1;
create index copies on messages (chat) where is_orphan = 2;
create index gone_messages on messages (deleted_at) where is_live = 0;
-- All columns that a search tests: rows of messages are long and scattered.
create index message_facts on messages (key, chat, role, model, is_live, is_orphan);
-- All that a sum of tokens reads.
create index token_counts on messages
  (chat, model, created_at, estimated_input, estimated_output) where is_orphan = 0;
create index recorded_tokens on messages
  (chat, model, created_at, input_tokens, output_tokens, estimated_input, estimated_output)
  where ${RECORDED};
create index recorded_ids on messages (id, chat) where ${RECORDED};
create index recorded_requests on messages (request_id, chat) where request_id is not null and ${RECORDED};

-- The parts of a message, in the order of writing: chats are read newest first, so bodies under their messages' keys
-- would leave every page half empty.
create table bodies (num integer primary key, parts text not null) strict;

-- What Cursor deleted, as a person would count: a chat that was deleted as a whole is one entry.
create table losses (
  chat integer not null references chats (num), kind text not null, message_id text not null, at integer not null,
  primary key (chat, kind, message_id)
) strict, without rowid;
create index losses_by_time on losses (at, chat, kind, message_id);

-- The known tools and models.
create table names (kind text not null, name text not null, primary key (kind, name)) strict, without rowid;

-- What the full-text index, which has a file of its own, has to follow.
${CHANGE_TABLES}
-- Work that waits: chats whose messages have temporary places, or times by an older rule.
create table unplaced (chat integer primary key references chats (num) on delete cascade) strict;

-- When each check was last done. Then each damaged file that was set aside, and how much was saved from it.
create table upkeep (task text primary key, done_at integer not null) strict, without rowid;
create table salvages (
  file text primary key, begun_at integer not null, done_at integer,
  chats integer not null default 0, messages integer not null default 0, lost integer not null default 0
) strict, without rowid;

-- Content that a message's row does not have and another value may have. Without a message, another value has a copy of
-- the chat's thread. Numbers are never used again, so readers can tell which are new.
create table pending_references (
  num integer primary key autoincrement, chat integer not null references chats (num),
  source integer not null references sources (num),
  message_id text not null, kind text not null, name text not null, path text,
  unique (chat, source, message_id, kind, name)
) strict;
-- The blob with the output of a call, so no blob is read twice to find it.
create table blob_calls (
  source integer not null references sources (num), call_id text not null, blob text not null,
  primary key (source, call_id, blob)
) strict, without rowid;

-- Rows of usage files that the user imported. identity: made from the row's content. occurrence: numbers equal rows of
-- a file, so overlapping files add no duplicates. chat: the chat that was matched to the row.
create table usage_events (
  num integer primary key, identity text not null, occurrence integer not null, at integer not null,
  kind text, model text, user text, input integer, output integer, cache_read integer, cache_write integer,
  total integer, cents real, chat integer references chats (num), imported_at integer not null,
  unique (identity, occurrence)
) strict;
create index usage_events_by_time on usage_events (at);

-- Archives record the revision of each chat, and revisions are only comparable within one mirror.
create table identity (id text primary key) strict;
insert into identity (id) values (lower(hex(randomblob(16))));

-- How many bars of purges this mirror knows of (stage 'known'), and how many of them it keeps in its rows, its archives and
-- the bytes of its file. The bars themselves are in the user's file, user.db.
create table purge_stages (stage text primary key, bars integer not null) strict, without rowid;

-- Rows that record tokens and have nothing to show, with the facts that decide their place. Then the part of a
-- message's tokens that comes from such rows: the rest is its own, so they can be distributed again.
create table placeholders (
  chat integer not null references chats (num) on delete cascade, source integer not null references sources (num),
  id text not null, alias text, role text not null,
  sent_at integer, started_at integer, timing_at integer, input integer, output integer,
  primary key (chat, source, id)
) strict, without rowid;
create table placeholder_tokens (
  chat integer not null references chats (num) on delete cascade, source integer not null references sources (num),
  id text not null, input integer not null, output integer not null,
  primary key (chat, source, id)
) strict, without rowid;

-- From Cursor's tracking database: when a chat wrote code and with which models, a row for each chat and hour. Then the
-- commits that it knows.
create table tracked (
  chat_id text not null, source integer not null references sources (num), hour integer not null,
  first_at integer not null, last_at integer not null, models text not null,
  primary key (chat_id, source, hour)
) strict, without rowid;
create table scored_commits (
  sha text not null, source integer not null references sources (num), chat_lines integer,
  primary key (sha, source)
) strict, without rowid;

-- Messages that only an older decoder yielded. An archive may still have them; a restore leaves them out.
create table superseded_messages (
  chat_id text not null, id text not null,
  primary key (chat_id, id)
) strict, without rowid;

${SUM_TABLES}
-- How many rows each source holds, kept by triggers.
create table live_rows (source integer primary key, count integer not null) strict;
create trigger row_counted after insert on source_rows when new.is_live = 1 begin
  insert into live_rows values (new.source, 1) on conflict do update set count = count + 1;
end;
create trigger row_uncounted after delete on source_rows when old.is_live = 1 begin
  update live_rows set count = count - 1 where source = old.source;
end;
create trigger row_recounted after update of source, is_live on source_rows
when old.is_live <> new.is_live or old.source <> new.source begin
  update live_rows set count = count - old.is_live where source = old.source;
  insert into live_rows values (new.source, new.is_live) on conflict do update set count = count + new.is_live;
end;

-- The hub. hub_state: facts by name. hub_values: random values of the latest pushes; the hub has the last one of each
-- machine, so a mirror that does not know it is a copy. hub_names: the name that a project was given, once.
create table hub_state (key text primary key, value text not null) strict, without rowid;
create table hub_values (num integer primary key autoincrement, value text not null unique) strict;
create table hub_names (uri text primary key, name text not null) strict, without rowid;
create index hub_names_by_name on hub_names (name);
-- Each row of other machines that was seen, used or not. activity and messages decide which of two copies is shown; they
-- are null where the object was not read.
create table hub_ledger (
  machine text not null, chat text not null, project text not null, sequence integer not null, state text not null,
  activity integer, messages integer,
  primary key (machine, chat)
) strict, without rowid;
create index hub_ledger_by_chat on hub_ledger (chat);
-- Purges that the hub does not know yet. Message '' is the whole chat; a null message removes the row only, because a
-- text of the chat itself was purged.
create table hub_purges (num integer primary key autoincrement, chat text not null, message text) strict;
`

/** The oldest schema that is upgraded. No version with an older one was released. */
const OLDEST_VERSION = 22

/** Tables of today, and the names that they had until schema 30. */
export const FORMER_NAMES: Readonly<Record<string, string>> = {
  chat_metadata: 'heads',
  pending_references: 'asks',
  placeholder_tokens: 'lent_tokens',
}

/** Append only: step n brings a mirror of schema 22 + n to the next one. Each says why it was needed. */
const steps: readonly string[] = [
  // A row of the global store whose value is NULL is a deletion of Cursor's. It counted as a row that could not be read.
  `delete from row_issues where reason = 'null-value' and octets is null;`,

  // An answer without a time of its own had the time of the next message, which may be days later. And the tokens of
  // messages that a chat copied from the chat that it is a fork of were counted in both.
  `create table misdated (chat integer primary key references chats (num) on delete cascade) strict;
  insert into misdated (chat)
  select distinct chat from messages where created_at_source = 'neighbour' and role = 'assistant';
  alter table messages add column request_id text;
  create index recorded_ids on messages (id, chat) where ${RECORDED};
  create index recorded_requests on messages (request_id, chat) where request_id is not null and ${RECORDED};`,

  // Tokens were counted by a process with a tokenizer. Now each message gets an estimate when it is written.
  `create table unestimated (chat integer primary key references chats (num) on delete cascade) strict;
  insert into unestimated (chat) select num from chats;`,

  // Statistics had an array of numbers for each chat. Now they add up rows, as reports of tokens do.
  `drop trigger message_counted;
  drop trigger message_uncounted;
  drop trigger message_no_more_counted;
  drop trigger message_counted_again;
  drop table token_sums;
  drop table chat_digests;
  drop table digest_words;
  drop table undigested;
  ${SUM_TABLES}
  ${SUM_UP}
  insert into uncounted (chat) select num from chats where tool_call_count > 0 union select chat from unestimated;
  drop table unestimated;
  alter table chats add column duration_ms integer;
  update chats set duration_ms = known.duration_ms
  from (select chat, ${DURATION} as duration_ms from messages group by chat) known where known.chat = chats.num;`,

  // What was purged stood in the mirror, and was lost with it. Now it stands in the user's file: see `takeTombstones`.
  `create table purge_stages (stage text primary key, bars integer not null) strict, without rowid;
  insert into purge_stages (stage, bars) select 'known', count(*) from tombstones;
  insert into purge_stages (stage, bars)
  select stage.value, known.bars from json_each('["rows", "archives", "bytes"]') stage, purge_stages known
  where not exists (select 1 from purges where removed_at is null or archives_at is null or compacted_at is null);
  drop table tombstones;
  drop table purge_salt;
  drop table purges;
  drop table purge_targets;`,

  // Chats whose reading was interrupted were read again. Now they are placed like those with times by an older rule. And
  // rows of the hub that were not used had states of their own; they are fetched again.
  `update hub_ledger set state = 'wanted', sequence = -1 where state in ('hidden', 'barred', 'newer');
  insert into misdated (chat) select distinct chat from unplaced where true on conflict do nothing;
  drop table unplaced;
  create table unplaced (chat integer primary key references chats (num) on delete cascade) strict;
  insert into unplaced (chat) select chat from misdated;
  drop table misdated;`,

  // The full-text index was in the mirror. Now it has a file of its own, and the former tables go when that is complete.
  `${CHANGE_TABLES}
  drop table unindexed;
  drop table unlisted;
  ${LEAVE_FORMER_INDEX}`,

  // Three tables had names of their own. Now they have the words of the code.
  Object.entries(FORMER_NAMES)
    .map(([name, former]) => `alter table ${former} rename to ${name};`)
    .join('\n'),

  // Each working tree of a repository was a project of its own. Its chats belong to the repository.
  `alter table projects add column belongs_to integer references projects (num);
  alter table projects add column belongs_how text;
  create index projects_by_owner on projects (belongs_to) where belongs_to is not null;
  alter table chats add column worktree integer references projects (num);
  create index chats_by_worktree on chats (worktree) where worktree is not null;`,

  // A chat without any message here could not be found by the beginnings of its messages, which its own row has.
  `alter table chats add column preview text;`,
  // Only the sum of a chat's context was kept, and not what fills it.
  `alter table chats add column context_items text;`,
]

/** The schema version of this program. SQLite keeps that of a mirror as its `user_version`. */
export const SCHEMA_VERSION = OLDEST_VERSION + steps.length

const versionOf = (db: Mirror): number => Number(db.pragma('user_version', { simple: true }))

/** Whether the mirror has the schema that the queries expect. The next writer upgrades an older one. */
export const isOfThisVersion = (db: Mirror): boolean => versionOf(db) === SCHEMA_VERSION

const HAS_TABLES = `select 1 from sqlite_schema limit 1`

/**
 * Refuses a mirror that this program cannot upgrade. Runs before anything that could write: the file must stay unchanged
 * until its own version opens it.
 * @throws UserError `mirror-newer` or `mirror-older`; `mirror-damaged` if it is another database
 */
export function refuseOther(path: string): void {
  requireRegular(path)
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return
  const db = new Database(path, { readonly: true, timeout: 10_000 })
  try {
    const version = versionOf(db)
    // Else the write-ahead log beside it is that of another file. Whoever opens it for writing makes the two one.
    if (version === 0 && db.prepare(HAS_TABLES).get() !== undefined)
      throw mirrorDamaged('its tables, or those of the write-ahead log beside it, are not those of a mirror')
    if (version === 0 || (version >= OLDEST_VERSION && version <= SCHEMA_VERSION)) return
    const isNewer = version > SCHEMA_VERSION
    throw new UserError(
      isNewer ? 'mirror-newer' : 'mirror-older',
      `The mirror at ${path} has schema ${version}; this version of cursordex knows ${OLDEST_VERSION} to ${SCHEMA_VERSION}.`,
      isNewer
        ? 'Run the newer cursordex that wrote it, or choose another folder with --data-dir.'
        : 'Move the file away: a new mirror is made from Cursor. What Cursor no longer has comes back from an archive, with cursordex archive restore.',
    )
  } finally {
    db.close()
  }
}

/**
 * Gives a new mirror its tables, and takes all missing steps of an older one, or none: a process that is killed meanwhile
 * leaves the mirror as it was, and the next one begins again.
 */
export function upgrade(db: Mirror): void {
  const version = versionOf(db)
  if (version === SCHEMA_VERSION) return
  const missing = version === 0 ? [TABLES] : steps.slice(version - OLDEST_VERSION)
  db.transaction(() => {
    for (const sql of missing) db.exec(sql)
    db.pragma(`user_version = ${SCHEMA_VERSION}`)
  })()
}

import { statSync } from 'node:fs'
import { requireRegular } from '../regular-file.ts'
import Database from '../sqlite.ts'
import { UserError } from '../model/user-error.ts'
import { mirrorDamaged } from './damage/find-damage.ts'
import type { Mirror } from './open.ts'
import { CHANGE_TABLES, LEAVE_FORMER_INDEX } from './index/index-file.ts'
import { RECORDED, TABLES } from './schema.ts'
import { DURATION, SUM_TABLES, SUM_UP } from './sum-tables.ts'

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

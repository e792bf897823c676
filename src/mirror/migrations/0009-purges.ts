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

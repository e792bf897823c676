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

/**
 * 0022. Why: chats are shared through a PostgreSQL, the hub. The mirror remembers what it gave and what it took.
 *
 * - `hub_state` has facts by name: the hub that the ledger belongs to, and whether words of dropped copies are left.
 * - `hub_values` has the random values of the latest pushes. The hub has the last one of each machine, so a mirror that
 *   does not know it is a copy.
 * - `hub_names` has the name that a project was given at the hub. It is given once.
 * - `hub_ledger` has each row of other machines that was seen, used or not. A pull compares it with the hub. `activity` and
 *   `messages` decide which of two machines' copies is shown; they are null where the object was not read.
 * - `hub_purges` has purges that the hub does not know yet. Message '' is the whole chat; a null message removes the row
 *   only, because a text of the chat itself was purged.
 */
export const hub = `
create table hub_state (
  key text primary key,
  value text not null
) strict, without rowid;

create table hub_values (
  num integer primary key autoincrement,
  value text not null unique
) strict;

create table hub_names (
  uri text primary key,
  name text not null
) strict, without rowid;
create index hub_names_by_name on hub_names (name);

create table hub_ledger (
  machine text not null,
  chat text not null,
  project text not null,
  sequence integer not null,
  state text not null,
  activity integer,
  messages integer,
  primary key (machine, chat)
) strict, without rowid;
create index hub_ledger_by_chat on hub_ledger (chat);

create table hub_purges (
  num integer primary key autoincrement,
  chat text not null,
  message text
) strict;
`

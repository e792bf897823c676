/**
 * 0020. Why: a mirror may hold chats that were pulled from other machines, and a person must see whose they are.
 *
 * - `machines` has the machines that chats were pulled from, and none without a chat. `uuid` is the one of that machine's
 *   mirror. `user` is the database role that owns it.
 * - `chats.machine` is null for a chat of this machine.
 */
export const machines = `
create table machines (
  id integer primary key,
  uuid text not null unique,
  name text not null,
  user text not null
) strict;

alter table chats add column machine integer references machines (id);
create index chats_by_machine on chats (machine) where machine is not null;
`

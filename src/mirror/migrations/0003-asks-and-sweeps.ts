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

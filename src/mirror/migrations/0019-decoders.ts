/**
 * Why: a newer program may read a store differently.
 *
 * - `sources.decoder` is the version of the decoder that read the source. When it changes, the source is read anew.
 * - `superseded_messages` names messages that only an older decoder yielded. An archive may still hold them; a restore
 *   leaves them out.
 */
export const decoders = `
alter table sources add column decoder integer not null default 1;

create table superseded_messages (
  chat_id text not null,
  id text not null,
  primary key (chat_id, id)
) strict, without rowid;
`

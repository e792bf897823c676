/**
 * Why: Cursor recorded the tokens of a turn on its last row, which may hold nothing to show. Such a row is no message, and
 * its tokens were lost.
 *
 * - `placeholders` holds the rows that record tokens and hold nothing to show, with what decides of their place.
 * - `lent_tokens` says how much of a message's tokens is not its own, but comes from placeholders. The message's own
 *   tokens are what is left, so that they can be shared out anew whenever anything moves.
 */
export const placeholderTokens = `
create table placeholders (
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

create table lent_tokens (
  chat integer not null references chats (num) on delete cascade,
  source integer not null references sources (num),
  id text not null,
  input integer not null,
  output integer not null,
  primary key (chat, source, id)
) strict, without rowid;
`

/**
 * Why: statistics of half a million messages are asked for, and their bodies would have to be parsed for each answer.
 *
 * - `chat_digests` holds a row of numbers for each chat, see `digests/digest-format.ts`: of each message of the thread
 *   when it was sent and by whom, its model, its calls of tools and the files that they name. It is written with the
 *   messages. One row a chat, and not one a call: reading few long rows is what makes the answer quick.
 * - `digest_words` gives those names their numbers.
 * - `undigested` names the chats of which no digest was made yet, as all are that were written before.
 *
 * All three follow from `messages` and `bodies`.
 */
export const chatDigests = `
create table digest_words (
  num integer primary key,
  word text not null unique
) strict;

create table chat_digests (
  chat integer primary key references chats (num) on delete cascade,
  entries blob not null
) strict;

create table undigested (
  chat integer primary key references chats (num) on delete cascade
) strict;

insert into undigested (chat) select num from chats;
`

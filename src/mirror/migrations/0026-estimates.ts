/**
 * 0026. Why: tokens were counted in the background by a process with a tokenizer. Now each message gets an estimate when it
 * is written. `unestimated` lists the chats whose estimates are made anew.
 */
export const estimates = `
create table unestimated (
  chat integer primary key references chats (num) on delete cascade
) strict;

insert into unestimated (chat) select num from chats;
`

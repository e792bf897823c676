/**
 * Why: to place all messages of a chat after each two megabytes of it took the memory and the time of a long one many times
 * over. Chats are named here of which some messages stand where they do until the rest is read.
 */
export const unplaced = `
create table unplaced (
  chat integer not null references chats (num) on delete cascade,
  source integer not null references sources (num) on delete cascade,
  primary key (chat, source)
) strict, without rowid;
`

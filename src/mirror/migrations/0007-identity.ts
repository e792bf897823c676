/**
 * Why: an archive says of each chat which revision of it was archived, and a revision counts within one mirror only. A
 * mirror that is made anew, after damage or by hand, is another one.
 */
export const identity = `
create table identity (
  id text primary key
) strict;
insert into identity (id) values (lower(hex(randomblob(16))));
`

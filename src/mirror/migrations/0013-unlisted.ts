/**
 * Why: of the time until the first messages of a new mirror can be found, a sixth went into the list of terms, which
 * only `*inside*`, suggestions and the help with a typo are answered from. The messages named here have their full-text
 * rows, and their terms join the list a little later.
 */
export const unlisted = `
create table unlisted (
  key integer primary key
) strict;
`

/**
 * Why: a page of the full-text index is a row of its own, one to a page of the file. At 16,000 bytes it left 2% of that
 * empty; of the 16,384 a row may fill 16,344 before it needs a second page, and FTS5 goes seven beyond what it is told.
 */
export const fullPages = `
insert into message_terms (message_terms, rank) values ('pgsz', 16320);
`

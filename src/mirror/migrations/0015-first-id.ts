/**
 * Why: a source that is known again under another path gets another id, and of the id are made those of messages to which
 * the store gives none. Null where it has the id that it had at first.
 */
export const firstId = `
alter table sources add column first_id text;
`

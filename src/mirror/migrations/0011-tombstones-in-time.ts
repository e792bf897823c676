/**
 * Why: a text that was purged keeps its other copies out, and must not keep out what is said anew.
 *
 * - `until`, epoch milliseconds: what was said later is new; null bars it whenever it was said.
 * - `spares_untimed`: 1 where what nobody knows the time of is not barred, for only what was said before a moment went.
 */
export const tombstonesInTime = `
alter table tombstones add column until integer;
alter table tombstones add column spares_untimed integer not null default 0;
`

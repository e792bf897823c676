/**
 * Why: a name with capitals between signs of an unspaced script was not found in small letters, words behind a colour of
 * a terminal or an escape of JSON were not found at all, and a space of no width parted Khmer. The full-text rows of
 * messages and titles are made anew, as the backlog is worked off.
 */
export const namesInUnspacedText = `
insert into message_terms (message_terms) values ('delete-all');
insert into chat_terms (chat_terms) values ('delete-all');
insert into unindexed (key) select key from messages where is_shadowed = 0 on conflict do nothing;
`

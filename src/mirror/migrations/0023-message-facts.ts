/**
 * 0023. Why: rows of messages are long and scattered, and a search with `role:` or `model:` read one for each match of its
 * words. This index has all columns that a search tests.
 */
export const messageFacts = `
drop index chat_of_message;
create index message_facts on messages (key, chat, role, model, is_live, is_orphan);
`

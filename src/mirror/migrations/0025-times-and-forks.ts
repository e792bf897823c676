/** A message of a thread with tokens that Cursor recorded. */
const RECORDED = `is_orphan = 0 and (input_tokens > 0 or output_tokens > 0)`

/**
 * 0025. Why: an answer without a time of its own had the time of the next message, which may be days later. And the
 * tokens of messages that a chat copied from the chat that it is a fork of were counted in both.
 *
 * - `misdated` lists the chats with times by that rule. They get new ones in the background.
 * - `messages.request_id` is Cursor's id of the request, of messages with recorded tokens only. A copy may have an id of
 *   its own, but its request is that of the message that it repeats.
 */
export const timesAndForks = `
create table misdated (
  chat integer primary key references chats (num) on delete cascade
) strict;

insert into misdated (chat)
select distinct chat from messages where created_at_source = 'neighbour' and role = 'assistant';

alter table messages add column request_id text;
create index recorded_ids on messages (id, chat) where ${RECORDED};
create index recorded_requests on messages (request_id, chat) where request_id is not null and ${RECORDED};
`

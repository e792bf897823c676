/**
 * Why: tokens are told with where each number comes from.
 *
 * - `messages.estimated_input` and `estimated_output` are counts over the message's own text. They stand beside the
 *   content hash that they were made of, a rewritten body takes them away, and null is: not counted yet. In the row
 *   itself, because a sum over half a million messages cannot afford to look each of them up elsewhere.
 * - `token_counts` is all that a sum by chat, project or model reads; `recorded_tokens` the few messages on which the
 *   numbers were recorded.
 * - `usage_events` are the rows of files that the user downloaded and handed in. `identity` is made of what a row says,
 *   and `occurrence` tells equal rows of one file apart: a file that overlaps with an earlier one adds nothing twice.
 *   `chat` is the chat to which a row could be matched.
 */
export const tokenLedger = `
alter table messages add column estimated_input integer;
alter table messages add column estimated_output integer;
create index token_counts on messages
  (chat, model, created_at, estimated_input, estimated_output) where is_orphan = 0;
create index recorded_tokens on messages
  (chat, model, created_at, input_tokens, output_tokens, estimated_input, estimated_output)
  where is_orphan = 0 and (input_tokens > 0 or output_tokens > 0);

create table usage_events (
  num integer primary key,
  identity text not null,
  occurrence integer not null,
  at integer not null,
  kind text,
  model text,
  user text,
  input integer,
  output integer,
  cache_read integer,
  cache_write integer,
  total integer,
  cents real,
  chat integer references chats (num),
  imported_at integer not null,
  unique (identity, occurrence)
) strict;
create index usage_events_by_time on usage_events (at);
`

const HAS_OWN_TIME = `is_orphan = 0 and created_at_source not in ('neighbour', 'chat')`

/** SQL: milliseconds from a chat's first to its last message with a time of its own; null for fewer than two. */
export const DURATION = `
  case when count(*) filter (where ${HAS_OWN_TIME}) > 1
    then max(created_at) filter (where ${HAS_OWN_TIME}) - min(created_at) filter (where ${HAS_OWN_TIME}) end
`

/** The quarter of messages without a known time: far below all others. */
export const UNDATED_QUARTER = -1_000_000_000_000_000

/**
 * SQL: the quarter of an hour of a time, counted from 1970.
 * @param at a column, in epoch milliseconds
 */
export const quarterOf = (at: string): string =>
  `coalesce((${at} - (${at} % 900000 + 900000) % 900000) / 900000, ${UNDATED_QUARTER})`

/** SQL: the group of a message and what it adds to the sums. @param row its alias, or `new` or `old` in a trigger */
const groupOf = (row: string): string => `${quarterOf(`${row}.created_at`)}, ${row}.chat, coalesce(${row}.model, '')`
const countsOf = (row: string): readonly string[] => [
  '1',
  `${row}.role = 'user'`,
  `${row}.tool_calls`,
  `coalesce(${row}.created_at_source in ('neighbour', 'chat'), 0)`,
  `${row}.estimated_input is not null`,
  `coalesce(${row}.estimated_input, 0)`,
  `coalesce(${row}.estimated_output, 0)`,
]
const SUMS = ['messages', 'users', 'calls', 'approximate', 'estimated', 'input', 'output']

const eachSum = (toSql: (sum: string, at: number) => string): string => SUMS.map(toSql).join(', ')

const add = `
  insert into message_sums (quarter, chat, model, ${SUMS.join(', ')})
  values (${groupOf('new')}, ${countsOf('new').join(', ')})
  on conflict do update set ${eachSum((sum) => `${sum} = ${sum} + excluded.${sum}`)};
`

const subtract = `
  update message_sums set ${eachSum((sum, at) => `${sum} = ${sum} - (${countsOf('old')[at]})`)}
  where (quarter, chat, model) = (${groupOf('old')});
  delete from message_sums where (quarter, chat, model) = (${groupOf('old')}) and messages = 0;
`

const SUMMED =
  'chat model role created_at created_at_source is_orphan tool_calls estimated_input estimated_output'.split(' ')
const isChanged = SUMMED.map((column) => `old.${column} is not new.${column}`).join(' or ')

/** What statistics and reports of tokens add up. */
export const SUM_TABLES = `
-- The messages of threads by quarter of an hour, chat and model: all, the user's, their tool calls, those with only the
-- time of a neighbour or of the chat, and the estimated tokens. In every zone of today an hour begins with a quarter.
-- model: empty if the message names none. Triggers see every change, whoever makes it.
create table message_sums (
  quarter integer not null, chat integer not null, model text not null,
  ${eachSum((sum) => `${sum} integer not null`)},
  primary key (quarter, chat, model)
) strict, without rowid;
create trigger message_counted after insert on messages when new.is_orphan = 0 begin ${add} end;
create trigger message_uncounted after delete on messages when old.is_orphan = 0 begin ${subtract} end;
create trigger message_no_more_counted after update of ${SUMMED.join(', ')} on messages
when old.is_orphan = 0 and (${isChanged}) begin ${subtract} end;
create trigger message_counted_again after update of ${SUMMED.join(', ')} on messages
when new.is_orphan = 0 and (${isChanged}) begin ${add} end;

-- The tool calls of a message, each with its files: a row for each file, and one for a call without a file. So calls are
-- the rows whose file is 0. They follow from the body.
create table calls (
  body integer not null references bodies (num) on delete cascade, call integer not null, file integer not null,
  tool text not null, status text not null, path text,
  primary key (body, call, file)
) strict, without rowid;
create index callers on messages (body, created_at, chat) where is_orphan = 0 and tool_calls > 0;

-- Work that waits: chats whose messages lack calls, or have estimates by an older rule.
create table uncounted (chat integer primary key references chats (num) on delete cascade) strict;
`

/** Fills `message_sums` from all messages. */
export const SUM_UP = `
insert into message_sums
select ${groupOf('m')}, ${countsOf('m')
  .map((count) => `sum(${count})`)
  .join(', ')}
from messages m where is_orphan = 0 group by 1, 2, 3;
`

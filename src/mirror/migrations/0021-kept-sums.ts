/** The quarter of an hour of a time, counted from 1970; a number far below all others if the time is unknown. */
const quarterOf = (at: string): string =>
  `coalesce((${at} - (${at} % 900000 + 900000) % 900000) / 900000, -1000000000000000)`

const groupOf = (row: string): string => `${quarterOf(`${row}.created_at`)}, ${row}.chat, coalesce(${row}.model, '')`

const add = `
  insert into token_sums (quarter, chat, model, messages, estimated, input, output)
  values (${groupOf('new')}, 1, new.estimated_input is not null,
    coalesce(new.estimated_input, 0), coalesce(new.estimated_output, 0))
  on conflict do update set messages = messages + 1, estimated = estimated + excluded.estimated,
    input = input + excluded.input, output = output + excluded.output;
`

const subtract = `
  update token_sums set messages = messages - 1, estimated = estimated - (old.estimated_input is not null),
    input = input - coalesce(old.estimated_input, 0), output = output - coalesce(old.estimated_output, 0)
  where (quarter, chat, model) = (${groupOf('old')});
  delete from token_sums where (quarter, chat, model) = (${groupOf('old')}) and messages = 0;
`

const COUNTED = ['chat', 'model', 'created_at', 'is_orphan', 'estimated_input', 'estimated_output']
const isChanged = COUNTED.map((column) => `old.${column} is not new.${column}`).join(' or ')

/**
 * 0021. Why: each report of tokens added up all messages, and each status counted all rows of the sources.
 *
 * - `token_sums` has the messages of threads and their estimated tokens, by quarter of an hour, chat and model. In every
 *   zone of today a day begins with a quarter. `model` is empty if the message names none.
 * - `live_rows` has the number of rows that each source holds.
 *
 * Triggers keep both: they see every change, whoever makes it.
 */
export const keptSums = `
create table token_sums (
  quarter integer not null,
  chat integer not null,
  model text not null,
  messages integer not null,
  estimated integer not null,
  input integer not null,
  output integer not null,
  primary key (quarter, chat, model)
) strict, without rowid;

insert into token_sums
select ${groupOf('m')}, count(*), count(estimated_input),
  coalesce(sum(estimated_input), 0), coalesce(sum(estimated_output), 0)
from messages m indexed by token_counts
where is_orphan = 0
group by 1, 2, 3;

create trigger message_counted after insert on messages when new.is_orphan = 0 begin ${add} end;
create trigger message_uncounted after delete on messages when old.is_orphan = 0 begin ${subtract} end;
create trigger message_no_more_counted after update of ${COUNTED.join(', ')} on messages
when old.is_orphan = 0 and (${isChanged}) begin ${subtract} end;
create trigger message_counted_again after update of ${COUNTED.join(', ')} on messages
when new.is_orphan = 0 and (${isChanged}) begin ${add} end;

create table live_rows (
  source integer primary key,
  count integer not null
) strict;

insert into live_rows select source, count(*) from source_rows where is_live = 1 group by source;

create trigger row_counted after insert on source_rows when new.is_live = 1 begin
  insert into live_rows values (new.source, 1) on conflict do update set count = count + 1;
end;
create trigger row_uncounted after delete on source_rows when old.is_live = 1 begin
  update live_rows set count = count - 1 where source = old.source;
end;
create trigger row_recounted after update of source, is_live on source_rows
when old.is_live <> new.is_live or old.source <> new.source begin
  update live_rows set count = count - old.is_live where source = old.source;
  insert into live_rows values (new.source, new.is_live) on conflict do update set count = count + new.is_live;
end;
`

/**
 * Why: newer messages write their code into the text, between fences, and `in:code` passed over it. The full-text rows
 * are made anew, so that paths of older messages are found in small letters, too. The marks become what they would be
 * if the messages were read again: else each would count as changed.
 */
export const fencedCode = `
update messages
set marks = replace(replace(marks, ',"in:code"', ''), '"has:code"', '"in:code","has:code"')
where instr(marks, '"has:code"') > 0
  and (instr(marks, '"in:code"') = 0 or instr(marks, '"in:code"') > instr(marks, '"has:code"'));

insert into message_terms (message_terms) values ('delete-all');
insert into unindexed (key) select key from messages where is_shadowed = 0 on conflict do nothing;
`

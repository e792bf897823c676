import { expect, test } from 'vitest'
import { readTimestamp } from '../../../src/indexer/sources/records/json/read-time.ts'
import { unwrapPrompt } from '../../../src/indexer/sources/records/message/unwrap-prompt.ts'
import { query } from '../../helpers/eras/transcripts.ts'
import { startCpuClock } from '../../helpers/cpu-time.ts'

test.each([
  ['plain words stay as they are', '  a\n<b>\n ', ['  a\n<b>\n ']],
  ['a query loses its tags', query('a'), ['a']],
  ['a query on one line loses its tags', '<user_query>a</user_query>', ['a']],
  ['only the breaks beside the tags are taken off', query('\n  a \n'), ['\n  a \n']],
  ['breaks of Windows are taken off', '<user_query>\r\na\r\nb\r\n</user_query>', ['a\r\nb']],
  ['what comes before is removed', `<user_info>\nOS\n</user_info>\n\n${query('a')}`, ['a']],
  ['what comes after is removed', `${query('a')}\n<system_reminder>b</system_reminder>\n`, ['a']],
  ['unknown tags around a query are removed', `<new_thing kind="x">b</new_thing>\n${query('a')}`, ['a']],
  ['a mark of an image is taken off', `[Image]\n<image_files>\nb\n</image_files>\n${query('a')}`, ['a']],
  ['without a query, known tags are removed', '<timestamp>b</timestamp>\na', ['a']],
  ['without a query, other tags are the words of the user', '<div>b</div>\na', ['<div>b</div>\na']],
  ['a tag in the words stays', query('what is <timestamp>?'), ['what is <timestamp>?']],
  ['a query in the words stays', 'what is <user_query>a</user_query>?', ['what is <user_query>a</user_query>?']],
  ['a closing tag in the words stays', query('a </user_query> b'), ['a </user_query> b']],
  ['text after a query is kept', `${query('a')} b`, ['a', 'b']],
  ['several queries are several texts', `${query('a')}\n${query('b')}`, ['a', 'b']],
  ['a query without an end goes to the end', '<user_query>\na', ['a']],
  ['a wrapper without an end is no wrapper', '<timestamp>a', ['<timestamp>a']],
  ['a query without words is none', query(' '), []],
  [
    'links and skills alone are no words',
    '<external_links>\n### a\n</external_links>\n\n<agent_skills>b</agent_skills>',
    [],
  ],
  ['a wrapper alone is no words', '<user_info>a</user_info>', []],
  ['what the agent opens a chat with is no words', '<user_info>a</user_info>\n\n<git_status>\nb\n</git_status>\n', []],
  ['words behind what it opens with stay', '<user_info>a</user_info>\n<rules>b</rules>\nc', ['c']],
])('%s', (_, given, texts) => {
  expect(unwrapPrompt(given).texts).toEqual(texts)
})

test.each([
  [
    'numbered images',
    '<image_files>\nThe following:\n1. /tmp/a b.png\n2. C:\\b.png\n</image_files>',
    ['/tmp/a b.png', 'C:\\b.png'],
  ],
  ['images on lines', '<image_files>\n/tmp/a.png\n/tmp/a.png\n</image_files>', ['/tmp/a.png']],
  [
    'attached files',
    '<attached_files>\n<code_selection path="src/a.ts" lines="1-2">\nx\n</code_selection>\n</attached_files>',
    ['src/a.ts'],
  ],
])('the paths of %s are read', (_, wrapper, paths) => {
  expect(unwrapPrompt(`${wrapper}\n${query('a')}`).paths).toEqual(paths)
})

test('a hostile nest of tags takes no time', () => {
  const cpuMs = startCpuClock()
  for (const unit of ['<a>', '</user_query><a>', '<user_query>', '<a></a>', '[Image]', ' path="', '<a ']) {
    unwrapPrompt(`<user_query>${unit.repeat(200_000)}`)
    unwrapPrompt(`<attached_files>${unit.repeat(200_000)}</attached_files>${unit.repeat(1000)}`)
  }
  expect(cpuMs()).toBeLessThan(5000)
})

const elevenTwentyInUtcPlus8 = Date.UTC(2026, 5, 2, 3, 20)

test.each([
  ['Tuesday, Jun 2, 2026, 11:20 AM (UTC+8)', elevenTwentyInUtcPlus8],
  ['Tuesday, Jun 2, 2026, 11:20\u202fAM (UTC+8)', elevenTwentyInUtcPlus8],
  ['Tuesday, June 2, 2026 at 11:20 AM (GMT+08:00)', elevenTwentyInUtcPlus8],
  ['Jun 1, 2026, 8:20 PM (UTC-7)', elevenTwentyInUtcPlus8],
  ['Jun 1, 2026, 8:20 PM (UTC\u22127)', elevenTwentyInUtcPlus8],
  ['Tuesday, Jun 2, 2026, 8:50 AM (UTC+5:30)', elevenTwentyInUtcPlus8],
  ['Tuesday, Jun 2, 2026, 03:20 (UTC)', elevenTwentyInUtcPlus8],
  ['Tuesday, Jun 2, 2026, 12:05 AM (UTC)', Date.UTC(2026, 5, 2, 0, 5)],
  ['Tuesday, Jun 2, 2026, 12:05 PM (UTC)', Date.UTC(2026, 5, 2, 12, 5)],
  ['2026-06-02T11:20:00+08:00', elevenTwentyInUtcPlus8],
  ['2026-06-02T03:20:00.000Z', elevenTwentyInUtcPlus8],
])('%s is a time', (given, atMs) => {
  expect(readTimestamp(` ${given}\n`)).toBe(atMs)
})

test.each([
  'Tuesday, Jun 2, 2026, 11:20 AM',
  'Tuesday, Jun 2, 2026, 11:20 AM (PST)',
  'Feb 30, 2026, 11:20 AM (UTC)',
  'Jun 2, 2026, 13:20 PM (UTC)',
  'Jun 2, 2026, 25:20 (UTC)',
  'Jun 2, 2026, 11:70 AM (UTC)',
  'Juz 2, 2026, 11:20 AM (UTC)',
  '2026-06-02T11:20:00',
  '06/02/2026, 11:20 AM (UTC)',
  'Jun 2, 1926, 11:20 AM (UTC)',
  'yesterday',
  '',
])('"%s" is no certain time', (given) => {
  expect(readTimestamp(given)).toBeNull()
})

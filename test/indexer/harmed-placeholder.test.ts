import { afterEach, beforeEach, expect, test } from 'vitest'
import { CursorHome, type Store } from '../helpers/cursor.ts'
import { Indexer } from '../helpers/in-process.ts'

let home: CursorHome
let store: Store
let indexer: Indexer

beforeEach(() => {
  home = new CursorHome()
  store = home.global()
  indexer = new Indexer(home.userDir)
})
afterEach(() => {
  indexer.remove()
  home.remove()
})

const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
const many = JSON.stringify(Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`n${at}`, at])))

/** The value of `tokenCount` in a row without content, as JSON text, and what it counts as. */
const harmed: readonly (readonly [name: string, tokenCount: string, counts: string])[] = [
  ['null', 'null', '0/0'],
  ['a number', '7', '0/0'],
  ['words', '"forty"', '0/0'],
  ['no words', '""', '0/0'],
  ['true', 'true', '0/0'],
  ['a list', '[9,5]', '0/0'],
  ['an empty object', '{}', '0/0'],
  ['other names', '{"input_tokens":9,"output_tokens":5}', '0/0'],
  ['counts as words', '{"inputTokens":"9","outputTokens":"5"}', '0/0'],
  ['counts in lists', '{"inputTokens":[9],"outputTokens":{"n":5}}', '0/0'],
  ['counts that are null', '{"inputTokens":null,"outputTokens":null}', '0/0'],
  ['less than nothing', '{"inputTokens":-9,"outputTokens":-5}', '0/0'],
  ['less than one', '{"inputTokens":0.9,"outputTokens":-0.0}', '0/0'],
  ['more than any number', '{"inputTokens":1e999,"outputTokens":-1e999}', '0/0'],
  ['more than can be counted', '{"inputTokens":1e300,"outputTokens":18446744073709551615}', '0/0'],
  ['one count alone', '{"outputTokens":5}', '0/5'],
  ['a fraction, and nonsense beside it', '{"inputTokens":9.9,"outputTokens":"x"}', '9/0'],
  ['a name twice', '{"inputTokens":1,"inputTokens":9,"outputTokens":5}', '9/5'],
  ['counts beside much else', `${many.slice(0, -1)},"inputTokens":9,"outputTokens":5}`, '9/5'],
  ['counts beside great depth', `{"inputTokens":9,"outputTokens":5,"more":${deep}}`, '9/5'],
  ['great depth', deep, '0/0'],
  ['great length', `"${'9'.repeat(3_000_000)}"`, '0/0'],
  ['cut off in a number', '{"inputTokens":9,"outputTokens":5', '0/0'],
  ['cut off in its name', '{"inputTok', '0/0'],
  ['nothing', '', '0/0'],
]

const LIST = `
select messages.id || ' ' || ifnull(input_tokens, 0) || '/' || ifnull(output_tokens, 0) from messages
join chats on chats.num = chat where chats.id = ? and is_orphan = 0 order by position
`
const ids = ['u1', 'a1', 'p1', 'u2']
const typeOf = (id: string): number => (id.startsWith('u') ? 1 : 2)
const rowOf = (id: string): string =>
  JSON.stringify({
    bubbleId: id,
    type: typeOf(id),
    text: `said ${id}`,
    tokenCount: { inputTokens: 1, outputTokens: 1 },
  })

/**
 * The placeholder is between two turns.
 * @param isInline whether the messages are in the chat's own row
 */
function writeChat(chatId: string, tokenCount: string, isInline: boolean): void {
  const rows = ids.map((id) =>
    id === 'p1' ? `{"bubbleId":"p1","type":2,"text":"","tokenCount":${tokenCount}}` : rowOf(id),
  )
  if (isInline) return store.put(`composerData:${chatId}`, `{"_v":1,"conversation":[${rows.join(',')}]}`)
  store.chat(chatId, { fullConversationHeadersOnly: ids.map((id) => ({ bubbleId: id, type: typeOf(id) })) })
  for (const [at, row] of rows.entries()) store.put(`bubbleId:${chatId}:${ids[at] ?? ''}`, row)
}

/** Invalid JSON makes everything in the same row unreadable. */
const isCut = ([name]: (typeof harmed)[number]): boolean => /^cut off|^nothing/.test(name)

test.each([
  ['a row of its own', false, harmed],
  ["its chat's row", true, harmed.filter((each) => !isCut(each))],
] as const)('damaged counts, in %s, cost at most one issue and affect nothing else', (_, isInline, all) => {
  for (const [name, tokenCount] of all) writeChat(name, tokenCount, isInline)
  writeChat('sound', '{"inputTokens":9,"outputTokens":5}', isInline)
  indexer.pass()
  const tokensOf = (name: string): string[] => indexer.mirror.prepare<[string], string>(LIST).pluck().all(name)
  for (const [name, , counts] of [...all, ['sound', '', '9/5'] as const]) {
    const [input, output] = counts.split('/').map(Number)
    expect([name, tokensOf(name)]).toEqual([name, ['u1 1/1', `a1 ${1 + (input ?? 0)}/${1 + (output ?? 0)}`, 'u2 1/1']])
  }
  const issues = indexer.mirror
    .prepare<[], string>(`select key || ' ' || reason from row_issues order by 1`)
    .pluck()
    .all()
  expect(issues).toEqual(all.filter(isCut).map(([name]) => `bubbleId:${name}:p1 bad-json`))
  expect(indexer.pass('full')).toMatchObject({ added: 0, changed: 0, gone: 0 })
})

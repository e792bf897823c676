import { beforeEach, expect, test } from 'vitest'
import { type Store } from '../helpers/cursor.ts'
import { casesBeside, writtenOut } from '../helpers/cases.ts'
import { openIndexed, type Indexer } from '../helpers/in-process.ts'

let store: Store
let indexer: Indexer
beforeEach(() => {
  ;({ store, indexer } = openIndexed())
})

/** The value of `tokenCount` in a row without content, as JSON text, and what it counts as. */
const harmed = writtenOut(casesBeside(import.meta.url)<readonly [string, string, string]>('counts'))

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
] as const)('damaged counts, in %s, cost at most one issue and affect nothing else', async (_, isInline, all) => {
  for (const [name, tokenCount] of all) writeChat(name, tokenCount, isInline)
  writeChat('sound', '{"inputTokens":9,"outputTokens":5}', isInline)
  await indexer.pass()
  const tokensOf = (name: string): string[] =>
    indexer.messages(name).map(({ id, tokens }) => `${id} ${tokens?.input ?? 0}/${tokens?.output ?? 0}`)
  for (const [name, , counts] of [...all, ['sound', '', '9/5'] as const]) {
    const [input, output] = counts.split('/').map(Number)
    expect([name, tokensOf(name)]).toEqual([name, ['u1 1/1', `a1 ${1 + (input ?? 0)}/${1 + (output ?? 0)}`, 'u2 1/1']])
  }
  expect(indexer.issues.toSorted()).toEqual(
    all
      .filter(isCut)
      .map(([name]) => `bubbleId:${name}:p1 bad-json`)
      .toSorted(),
  )
  expect(await indexer.pass('values')).toMatchObject({ added: 0, changed: 0, gone: 0 })
})

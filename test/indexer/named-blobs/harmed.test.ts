import { beforeEach, expect, test } from 'vitest'
import { headers, type Store } from '../../helpers/cursor.ts'
import { asBase64, keepBlob, stateOf, stub, toolResult } from '../../helpers/blob-store.ts'
import { harmedBlobs } from '../../helpers/harmed-blobs.ts'
import { openIndexed, type Indexer } from '../../helpers/in-process.ts'

let store: Store
let indexer: Indexer
beforeEach(() => {
  ;({ store, indexer } = openIndexed())
})

const results: readonly (readonly [string, Buffer | null])[] = [
  '{"role":"tool","content":[{"type":"tool-res',
  '{"role":"tool","content":7}',
  '{"role":"tool","content":[null,3,"x",[[]]]}',
  '{"role":"tool","content":[{"type":"tool-result","toolCallId":7,"result":"x"}]}',
  `{"role":"tool","content":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
].map((text) => [text.slice(0, 80), Buffer.from(text)])
const harmed = [...harmedBlobs, ...results]

/** Where the state names the blob, and whether the blob names the results of calls. */
const places: readonly (readonly [name: string, field: number, inner: number, isWithin: boolean])[] = [
  ['an archive', 13, 1, false],
  ['the archive of an older build', 11, 1, false],
  ['a turn', 8, 2, false],
  ['a turn of the old list', 2, 2, false],
  ['a message of an archive', 13, 1, true],
  ['a step of a turn', 8, 2, true],
]

/** A chat whose state names the damaged blob, and a sound one with the output of a call. */
function writeChat(id: string, harmedId: string, [, field, inner, isWithin]: (typeof places)[number]): void {
  const [own, beside] = ['own', 'beside'].map((callId) => keepBlob(store, toolResult(callId, `${callId} of ${id}`)))
  const sound = [beside ?? '']
  const named = isWithin
    ? [keepBlob(store, stateOf([harmedId, ...sound], inner))]
    : [harmedId, keepBlob(store, stateOf(sound, inner))]
  const conversationState = asBase64(Buffer.concat([stateOf([own ?? '']), stateOf(named, field)]))
  store.chat(id, { fullConversationHeadersOnly: headers(calls), conversationState })
  for (const callId of calls) store.message(id, callId, stub(callId))
}

const calls = ['own', 'lost', 'beside']
const outputsOf = (id: string): unknown[] =>
  indexer.messages(id).flatMap(({ parts }) => parts.map((part) => (part.kind === 'tool' ? part.output : part)))

test.each(places)('damage to %s costs at most one issue, and no other output', async (...place) => {
  for (const [at, [, bytes]] of harmed.entries()) {
    writeChat(`bytes-${at}`, bytes === null ? 'cd'.repeat(32) : keepBlob(store, bytes), place)
    // The same under another id, as hex text, which older builds wrote.
    const id = String(at).padStart(2, '0').repeat(32)
    if (bytes !== null) store.put(`agentKv:blob:${id}`, bytes.toString('hex'))
    writeChat(`hex-${at}`, id, place)
  }
  await indexer.pass()
  const ids = harmed.flatMap((_, at) => [`bytes-${at}`, `hex-${at}`])
  expect(ids.map((id) => [id, ...outputsOf(id)])).toEqual(
    ids.map((id) => [id, `own of ${id}`, { totalLinesInFile: 12 }, `beside of ${id}`]),
  )
  const keys = indexer.issues.map((issue) => issue.slice(0, issue.lastIndexOf(' ')))
  expect(new Set(keys).size).toBe(keys.length)
  expect(await indexer.pass('values')).toMatchObject({ added: 0, changed: 0, gone: 0 })
})

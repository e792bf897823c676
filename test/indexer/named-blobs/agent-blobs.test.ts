import { beforeEach, describe, expect, test } from 'vitest'
import type { PassDepth } from '../../../src/model/pass.ts'
import { type CursorHome, headers, type Store } from '../../helpers/cursor.ts'
import type { Part } from '../../../src/model/part.ts'
import { Indexer, openIndexed } from '../../helpers/in-process.ts'
import { asBase64, keepBlob, stateOf, stub, toolCall, toolResult } from '../../helpers/blob-store.ts'

let home: CursorHome
let store: Store
let indexer: Indexer
beforeEach(() => {
  ;({ home, store, indexer } = openIndexed())
})

const T0 = 1_760_000_000_000
const SYSTEM = { role: 'system', content: 'canary-system-prompt: you are an agent' }

/** The thread, without what the chat no longer lists. */
const threadOf = (chatId: string) => indexer.messages(chatId).filter(({ isOrphan }) => !isOrphan)

function toolOf(chatId: string, callId: string): Part | undefined {
  const parts = indexer.messages(chatId).flatMap((message) => message.parts as readonly Part[])
  return parts.find((part) => part.kind === 'tool' && part.callId === callId)
}

/** Bytes that the sources of this kind read in a pass. */
async function bytesRead(depth: PassDepth = 'tail'): Promise<number> {
  return (await indexer.steps(depth)).reduce((sum, step) => sum + step.bytesRead, 0)
}

function chat(ids: readonly string[], more: Record<string, unknown> = {}, chatId = 'chat'): void {
  store.chat(chatId, { name: 'A chat', createdAt: T0, fullConversationHeadersOnly: headers(ids), ...more })
}

/** Reads a chat with these facts, whose message leaves out the output of its call. */
async function readStub(facts: Record<string, unknown>): Promise<void> {
  chat(['m1'], facts)
  store.message('chat', 'm1', stub('call-1'))
  await indexer.pass()
}

describe('outputs that a message leaves out', () => {
  test.each(['blob', 'hex'] as const)('are joined by the call, from a value stored as %s', async (form) => {
    const ids = [SYSTEM, toolCall('call-1', {}), toolResult('call-1', 'export const gyroscope = 1')]
    chat(['m1', 'm2'], { conversationState: asBase64(stateOf(ids.map((id) => keepBlob(store, id, form)))) })
    store.message('chat', 'm1', { type: 1, text: 'read it' })
    store.message('chat', 'm2', stub('call-1'))
    await indexer.pass()
    expect(toolOf('chat', 'call-1')).toMatchObject({ output: 'export const gyroscope = 1', outputFrom: 'blob' })
    expect(indexer.found('gyroscope')).toBe(1)
    expect(indexer.found('canary')).toBe(0)
    expect(await indexer.pass('values')).toMatchObject({ added: 0, changed: 0, gone: 0 })
  })

  test.each([
    ['hex in the row', (state: Buffer) => ({ conversationState: `~${state.toString('hex')}` })],
    [
      'a checkpoint of its own',
      (state: Buffer) => {
        store.put('agentKv:checkpoint:chat', keepBlob(store, state))
        return { conversationState: '~' }
      },
    ],
  ])('are found if the state is %s', async (_, keep) => {
    const state = stateOf([keepBlob(store, toolResult('call-1', 'the answer'))])
    await readStub(keep(state))
    expect(toolOf('chat', 'call-1')).toMatchObject({ output: 'the answer' })
  })

  test('that are written after their message are joined when the chat names them', async () => {
    await readStub({ conversationState: '~' })
    expect(toolOf('chat', 'call-1')).toMatchObject({ output: { totalLinesInFile: 12 } })
    const state = stateOf([keepBlob(store, SYSTEM), keepBlob(store, toolResult('call-1', 'late but here'))])
    chat(['m1'], { conversationState: asBase64(state) })
    await indexer.pass()
    expect(toolOf('chat', 'call-1')).toMatchObject({ output: 'late but here' })
  })

  test('of a call that is requested after its blob was read are found too', async () => {
    const blobs = ['call-1', 'call-2'].map((id) => keepBlob(store, toolResult(id, `what ${id} gave`)))
    chat(['m1', 'm2'], { conversationState: asBase64(stateOf(blobs)) })
    store.message('chat', 'm1', stub('call-1'))
    await indexer.pass()
    store.message('chat', 'm2', stub('call-2'))
    await indexer.pass()
    expect(toolOf('chat', 'call-2')).toMatchObject({ output: 'what call-2 gave' })
  })

  test('stay joined when the message is rewritten, and when the blobs are gone', async () => {
    const blob = keepBlob(store, toolResult('call-1', 'kept for good'))
    await readStub({ conversationState: asBase64(stateOf([blob])) })
    store.delete(`agentKv:blob:${blob}`)
    store.message('chat', 'm1', { ...stub('call-1'), text: 'with a word now' })
    await indexer.pass()
    expect(toolOf('chat', 'call-1')).toMatchObject({ output: 'kept for good' })
    expect(indexer.found('kept')).toBe(1)
  })

  describe('and that a summary took out of the list', () => {
    const own = () => stateOf([keepBlob(store, SYSTEM), keepBlob(store, toolResult('call-2', 'the newer one'))])
    const named = (field: number): Buffer => {
      const old = keepBlob(store, toolResult('call-1', 'the older one'))
      // An archive names messages in its field 1, a turn its steps in field 2.
      return stateOf([keepBlob(store, stateOf([old], field === 8 || field === 2 ? 2 : 1))], field)
    }
    const outputs = () => ['call-1', 'call-2'].map((id) => toolOf('chat', id))
    const both = [{ output: 'the older one' }, { output: 'the newer one' }]
    const state = (field: number) => ({ conversationState: asBase64(Buffer.concat([own(), named(field)])) })

    test.each([
      ['a turn', 8],
      ['the old list of turns', 2],
      ['an archive', 13],
      ['the one archive of older builds', 11],
    ])('are joined from %s by a rebuilt mirror', async (_, field) => {
      chat(['m1', 'm2'], state(field))
      store.message('chat', 'm1', stub('call-1'))
      store.message('chat', 'm2', stub('call-2'))
      await indexer.pass()
      expect(outputs()).toMatchObject(both)
      expect(await indexer.pass('values')).toMatchObject({ added: 0, changed: 0, gone: 0 })
    })

    test('stay if they were joined before', async () => {
      await readStub({ conversationState: asBase64(stateOf([keepBlob(store, toolResult('call-1', 'the older one'))])) })
      chat(['m1', 'm2'], { conversationState: asBase64(own()) })
      store.message('chat', 'm1', { ...stub('call-1'), text: 'written again' })
      store.message('chat', 'm2', stub('call-2'))
      await indexer.pass()
      await indexer.pass('values')
      expect(outputs()).toMatchObject(both)
    })
  })

  test('are replaced by the row’s own output', async () => {
    const blob = keepBlob(store, toolResult('call-1', 'from the blob'))
    await readStub({ conversationState: asBase64(stateOf([blob])) })
    const { toolFormerData, ...rest } = stub('call-1')
    store.message('chat', 'm1', { ...rest, toolFormerData: { ...(toolFormerData as object), result: 'from the row' } })
    await indexer.pass()
    expect(toolOf('chat', 'call-1')).toMatchObject({ output: 'from the row' })
    expect(toolOf('chat', 'call-1')).not.toHaveProperty('outputFrom')
  })

  test('of another chat are not used, even for the same call', async () => {
    keepBlob(store, toolResult('call-1', 'nobody named this'))
    await readStub({ conversationState: asBase64(stateOf([keepBlob(store, SYSTEM)])) })
    expect(toolOf('chat', 'call-1')).toMatchObject({ output: { totalLinesInFile: 12 } })
    expect(indexer.found('nobody')).toBe(0)
  })
})

describe('a chat whose messages are gone', () => {
  const thread = [
    SYSTEM,
    { role: 'user', content: [{ type: 'text', text: '<user_query>\nwhy does the turbine stall\n</user_query>' }] },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'look at the log first' },
        { type: 'text', text: 'The turbine stalls because of icing.' },
      ],
    },
    toolCall('call-1', { path: '/p/log.txt' }),
    toolResult('call-1', 'icing at 04:12'),
    { role: 'user', content: 'thanks' },
    { role: 'user', content: 'thanks' },
  ]
  const keepThread = (): string => asBase64(stateOf(thread.map((message) => keepBlob(store, message))))

  test('is recovered from what was sent to the model, marked by its source', async () => {
    chat(['gone-1', 'gone-2'], { conversationState: keepThread() })
    await indexer.pass()
    const recovered = threadOf('chat')
    expect(recovered.map(({ role }) => role)).toEqual(['user', 'assistant', 'assistant', 'user', 'user'])
    expect(new Set(recovered.map(({ source }) => source))).toEqual(new Set(['agent-blobs']))
    expect(recovered[0]?.parts).toEqual([{ kind: 'text', text: 'why does the turbine stall' }])
    expect(toolOf('chat', 'call-1')).toMatchObject({ output: 'icing at 04:12', status: 'completed' })
    expect(indexer.found('canary')).toBe(0)
    expect(indexer.chats).toMatchObject([{ title: 'A chat', messageCount: 5 }])
    expect(await indexer.pass('values')).toMatchObject({ added: 0, changed: 0, gone: 0 })
  })

  test('is recovered by its checkpoint if its row has no state', async () => {
    const state = stateOf(thread.map((message) => keepBlob(store, message)))
    store.put('agentKv:checkpoint:chat', keepBlob(store, state))
    chat(['gone-1'])
    await indexer.pass()
    expect(indexer.messages('chat')).toHaveLength(5)
  })

  test('does not appear twice when its messages come back', async () => {
    chat(['m1', 'm2'], { conversationState: keepThread() })
    await indexer.pass()
    store.message('chat', 'm1', { type: 1, text: 'why does the turbine stall' })
    store.message('chat', 'm2', { type: 2, thinking: { text: 'look at the log first' } })
    store.message('chat', 'm3', { type: 2, text: 'The turbine stalls because of icing.' })
    chat(['m1', 'm2', 'm3'], { conversationState: keepThread(), name: 'Renamed' })
    await indexer.pass()
    expect(indexer.thread('chat').slice(0, 3)).toEqual([
      ['m1', 0, 'why does the turbine stall'],
      ['m2', 1, 'look at the log first'],
      ['m3', 2, 'The turbine stalls because of icing.'],
    ])
    expect(indexer.chat('chat')?.title).toBe('Renamed')
    expect(indexer.found('turbine')).toBe(2)
  })

  test('whose messages the mirror has is left unchanged', async () => {
    chat(['m1'], { conversationState: keepThread() })
    store.message('chat', 'm1', { type: 1, text: 'why does the turbine stall' })
    await indexer.pass()
    store.delete('bubbleId:chat:m1')
    await indexer.pass('values')
    expect(indexer.messages('chat').map(({ id }) => id)).toEqual(['m1'])
  })

  test('is recovered as far as its blobs exist, and a missing one is an issue', async () => {
    const ids = thread.map((message) => keepBlob(store, message))
    store.delete(`agentKv:blob:${ids[2]}`)
    chat(['gone'], { conversationState: asBase64(stateOf(ids)) })
    await indexer.pass()
    expect(indexer.messages('chat')).toHaveLength(4)
    expect(indexer.issues).toEqual([`agentKv:blob:${ids[2]} missing-blob`])
  })

  test('has no issue after a full pass for an unreadable blob that it no longer names', async () => {
    const ids = [keepBlob(store, Buffer.from('no message')), 'ab'.repeat(32), keepBlob(store, thread[1])]
    chat(['gone'], { conversationState: asBase64(stateOf(ids)) })
    await indexer.pass()
    expect(indexer.issues).toHaveLength(2)
    chat(['gone'], { conversationState: asBase64(stateOf(ids.slice(1))) })
    await indexer.pass('values')
    expect(indexer.issues).toEqual([`agentKv:blob:${ids[1]} missing-blob`])
  })

  test('is recovered again when its state changes', async () => {
    const ids = thread.slice(0, 3).map((message) => keepBlob(store, message))
    chat(['gone'], { conversationState: asBase64(stateOf(ids)) })
    await indexer.pass()
    const before = indexer.messages('chat').map(({ id }) => id)
    chat(['gone'], { conversationState: keepThread() })
    await indexer.pass()
    const after = indexer.messages('chat').map(({ id }) => id)
    expect(after).toHaveLength(5)
    expect(after.slice(0, 2)).toEqual(before)
  })

  describe('and that Cursor deleted', () => {
    const state = () => ({
      ...indexer.counts,
      losses: indexer.losses(),
      deleted: indexer.chat('chat')?.deletedInCursor,
    })
    const deleted = { live: 0, losses: ['chat chat'], deleted: true }

    test.each([
      ['by a NULL', () => store.chat('chat', null)],
      ['by removing the row', () => store.delete('composerData:chat')],
    ])('%s is not treated as existing', async (_, remove) => {
      chat(['gone-1'], { conversationState: keepThread() })
      await indexer.pass()
      remove()
      await indexer.pass()
      expect(state()).toMatchObject({ ...deleted, gone: 5 })
      expect(await indexer.pass('values')).toMatchObject({ added: 0, changed: 0, gone: 0 })
      chat(['gone-1'], { conversationState: keepThread() })
      await indexer.pass()
      expect(state()).toEqual({ live: 5, gone: 0, losses: [], deleted: false })
    })

    test('is not treated as existing after its messages had come back', async () => {
      chat(['m1'], { conversationState: keepThread() })
      await indexer.pass()
      store.message('chat', 'm1', { type: 1, text: 'why does the turbine stall' })
      chat(['m1'])
      await indexer.pass()
      store.delete('bubbleId:chat:m1')
      store.delete('composerData:chat')
      await indexer.pass('keys')
      expect(state()).toMatchObject(deleted)
      expect(threadOf('chat')).not.toEqual([])
    })
  })

  test('and never had any, such as a draft, stays empty', async () => {
    chat([], { conversationState: '~' })
    await indexer.pass()
    expect(indexer.messages('chat')).toEqual([])
  })
})

test.each([
  ['that is no base64', '~!!!'],
  ['that is no protobuf', `~${Buffer.from('just some words').toString('base64')}`],
  ['cut off', asBase64(stateOf(['ab'.repeat(32)])).slice(0, -12)],
])('with a state %s does not affect others', async (_, conversationState) => {
  chat(['m1'], { conversationState })
  store.message('chat', 'm1', stub('call-1'))
  chat(['n1'], {}, 'other')
  store.message('other', 'n1', { type: 1, text: 'still here' })
  await indexer.pass()
  expect(indexer.found('still')).toBe(1)
  expect(indexer.messages('chat')).toHaveLength(1)
})

test('the amount read depends on what is requested, not on the number of blobs', async () => {
  const wanted = 300
  const blobs = Array.from({ length: wanted }, (_, at) =>
    keepBlob(store, toolResult(`call-${at}`, `out ${at} `.repeat(50))),
  )
  for (let at = 0; at < wanted; at += 10) {
    const chatId = `chat-${at}`
    const ids = Array.from({ length: 10 }, (_, one) => `${chatId}-m${one}`)
    chat(ids, { conversationState: asBase64(stateOf(blobs.slice(at, at + 10))) }, chatId)
    for (const [one, id] of ids.entries()) store.message(chatId, id, stub(`call-${at + one}`))
  }
  const few = await bytesRead()
  expect(toolOf('chat-290', 'call-299')).toMatchObject({ outputFrom: 'blob' })
  indexer.remove()
  store.db.transaction(() => {
    for (let at = 0; at < 20_000; at += 1) keepBlob(store, toolResult(`other-${at}`, `nobody asked ${at}`))
  })()
  indexer = new Indexer(home.userDir)
  expect(await bytesRead()).toBe(few)
  expect(toolOf('chat-290', 'call-299')).toMatchObject({ outputFrom: 'blob' })
  // Nothing new: nothing is read.
  expect(await bytesRead()).toBe(0)
})

test('an interrupted pass is resumed', async () => {
  for (const chatId of ['a', 'b', 'c']) {
    const blobs = [SYSTEM, toolResult(`call-${chatId}`, `what ${chatId} gave`)].map((blob) => keepBlob(store, blob))
    chat(['m1'], { conversationState: asBase64(stateOf(blobs)) }, chatId)
    if (chatId !== 'c') store.message(chatId, 'm1', stub(`call-${chatId}`))
  }
  await indexer.pass()
  const whole = ['a', 'b', 'c'].map(threadOf)
  for (let end = 1; ; end += 1) {
    indexer.remove()
    indexer = new Indexer(home.userDir)
    let taken = 0
    const stopped = await indexer.stoppedPass(() => (taken += 1) === end).catch((error: Error) => error.message)
    await indexer.pass()
    expect(['a', 'b', 'c'].map(threadOf)).toEqual(whole)
    expect([undefined, 'the pass ended before it was stopped']).toContain(stopped)
    if (stopped !== undefined) break
  }
})

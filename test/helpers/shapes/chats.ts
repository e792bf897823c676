import type { Store } from '../../../src/sample/cursor-home.ts'
import { headers } from '../../../src/sample/cursor-home.ts'

const START_MS = Date.UTC(2025, 10, 3, 8)
export const minute = (count: number): number => START_MS + count * 60_000
export const iso = (count: number): string => new Date(minute(count)).toISOString()

/** Chats in every format that Cursor has used, complete and damaged. */
export function writeChats(store: Store): void {
  for (const version of [3, 6, 8, 9, 10, 11, 14, 16]) writeSplit(store, version)
  writeEmbedded(store)
  writeUnlisted(store)
  writeIncomplete(store)
  writeRestored(store)
  writeRelations(store)
  writeTitles(store)
  writeLong(store)
}

function writeSplit(store: Store, version: number): void {
  const id = `split-${version}`
  const isNew = version >= 9
  const time = (count: number): Record<string, unknown> =>
    isNew
      ? { _v: 3, createdAt: iso(version * 10 + count) }
      : { timingInfo: { clientStartTime: 1_136_746.9, clientRpcSendTime: minute(version * 10 + count) } }
  store.chat(id, {
    _v: version,
    name: `Split chat ${version}`,
    createdAt: minute(version * 10),
    unifiedMode: isNew ? 'agent' : 'chat',
    modelConfig: { modelName: isNew ? 'claude-4.5-sonnet' : 'default' },
    fullConversationHeadersOnly: headers(['m1', 'm2', 'm3', 'm4']),
    conversationMap: {},
  })
  store.message(id, 'm3', { type: 1, text: `Third of ${id}`, ...time(3) })
  store.message(id, 'm4', { type: 2, text: `Fourth of ${id}`, thinking: { text: `Thought of ${id}` }, ...time(4) })
  store.message(id, 'm1', { type: 1, text: `First of ${id}`, modelInfo: { modelName: 'gpt-5' }, ...time(1) })
  store.message(id, 'm2', { type: 2, toolFormerData: { name: 'list_dir', status: 'completed' }, ...time(2) })
}

function writeEmbedded(store: Store): void {
  store.put('composerData:inline', {
    composerId: 'inline',
    name: 'Inline',
    createdAt: minute(0),
    conversation: [
      { bubbleId: 'a', type: 1, text: 'Inline question', timingInfo: { clientEndTime: minute(1) } },
      null,
      'not a message',
      { bubbleId: 'b', type: 2, text: 'Inline answer', timingInfo: { clientEndTime: minute(2) } },
      { bubbleId: 'c', type: 2, text: '' },
      { type: 1, text: 'Inline, without an id' },
      { type: 2, text: 'Inline, without an id as well' },
    ],
  })
  store.chat('inline-1', { _v: 1, createdAt: minute(5), conversation: [{ bubbleId: 'x', type: 1, text: 'Only one' }] })
  store.chat('map-with-list', {
    createdAt: minute(10),
    fullConversationHeadersOnly: headers(['z', 'y', 'x']),
    conversationMap: {
      x: { bubbleId: 'x', type: 1, text: 'Map third', createdAt: iso(13) },
      z: { bubbleId: 'z', type: 1, text: 'Map first', createdAt: iso(11) },
      y: { bubbleId: 'y', type: 2, text: 'Map second', createdAt: iso(12) },
      w: { bubbleId: 'w', type: 2, text: 'Map, named by nobody', createdAt: iso(14) },
    },
  })
  store.chat('map-alone', {
    createdAt: minute(10),
    conversationMap: {
      p: { bubbleId: 'p', type: 2, text: 'Later in the map', createdAt: iso(12) },
      q: { bubbleId: 'q', type: 1, text: 'Earlier in the map', createdAt: iso(11) },
    },
  })
}

function writeUnlisted(store: Store): void {
  store.message('no-row', 'm2', { type: 2, text: 'Second by time', createdAt: iso(22) })
  store.message('no-row', 'm3', { type: 2, timingInfo: { clientSettleTime: minute(23) }, text: 'Third by time' })
  store.message('no-row', 'm1', { type: 1, text: 'First by time', createdAt: minute(21) })
  store.chat('empty-list', { createdAt: minute(20), fullConversationHeadersOnly: [] })
  store.message('empty-list', 'm2', { type: 2, text: 'An answer in no list', createdAt: iso(32) })
  store.message('empty-list', 'm1', { type: 1, text: 'A question in no list', createdAt: iso(31) })
  store.chat('tombstone', null)
  store.message('tombstone', 'm2', { type: 2, text: 'Outlived its chat too', createdAt: iso(42) })
  store.message('tombstone', 'm1', { type: 1, text: 'Outlived its chat', createdAt: iso(41) })
}

function writeIncomplete(store: Store): void {
  const named = ['m1', 'm2', 'm3', 'm4', 'm5']
  store.chat('missing-rows', { createdAt: minute(50), fullConversationHeadersOnly: headers(named) })
  store.message('missing-rows', 'm2', { type: 2, text: 'Present second', createdAt: iso(52) })
  store.message('missing-rows', 'm5', { type: 1, text: 'Present fifth', createdAt: iso(55) })
  store.chat('no-rows', { name: 'All rows gone', fullConversationHeadersOnly: headers(['m1', 'm2']) })

  store.chat('orphans', { createdAt: minute(60), fullConversationHeadersOnly: headers(['m1', 'm2']) })
  store.message('orphans', 'o2', { type: 2, text: 'A dropped answer', createdAt: iso(64) })
  store.message('orphans', 'm2', { type: 2, text: 'The kept answer', createdAt: iso(62) })
  store.message('orphans', 'o1', { type: 1, text: 'A dropped question', createdAt: iso(63) })
  store.message('orphans', 'm1', { type: 1, text: 'The kept question', createdAt: iso(61) })

  store.chat('null-rows', { createdAt: minute(80), fullConversationHeadersOnly: headers(['m1', 'm2', 'm3']) })
  store.message('null-rows', 'm1', { type: 1, text: 'Before the tombstone', createdAt: iso(81) })
  store.message('null-rows', 'm2', null)
  store.message('null-rows', 'm3', { type: 1, text: 'After the tombstone', createdAt: iso(83) })
  store.message('null-rows', 'm4', null)

  store.chat('placeholders', { createdAt: minute(90), fullConversationHeadersOnly: headers(['m1', 'm2', 'm3', 'm4']) })
  store.message('placeholders', 'm1', { type: 1, text: 'Ask', createdAt: iso(91) })
  store.message('placeholders', 'm2', { type: 2, text: '', capabilityType: 22, createdAt: iso(92) })
  const degenerate = { additionalData: { status: 'error' } }
  store.message('placeholders', 'm3', { type: 2, toolFormerData: degenerate, capabilityType: 15, createdAt: iso(93) })
  store.message('placeholders', 'm4', { type: 2, text: 'Answer', toolFormerData: degenerate, createdAt: iso(94) })
}

/** After a checkpoint restore, the list names the same messages by other ids. */
function writeRestored(store: Store): void {
  store.chat('restored', {
    createdAt: minute(100),
    fullConversationHeadersOnly: [
      { bubbleId: 'new-1', type: 1, startedAtMs: minute(101) },
      { bubbleId: 'new-2', type: 2, startedAtMs: minute(101) },
      { bubbleId: 'new-3', type: 1, createdAt: minute(103) },
      { bubbleId: 'kept', type: 2, startedAtMs: minute(104) },
    ],
  })
  store.message('restored', 'old-3', { type: 1, text: 'Restored third', createdAt: iso(103) })
  store.message('restored', 'old-2', { type: 2, text: 'Restored second', startedAtMs: minute(101) })
  store.message('restored', 'old-1', { type: 1, text: 'Restored first', startedAtMs: minute(101) })
  store.message('restored', 'kept', { type: 2, text: 'Kept its id', startedAtMs: minute(104) })
  store.message('restored', 'old-9', { type: 2, text: 'Before the restore', createdAt: iso(109) })

  store.chat('own-id', { createdAt: minute(110), fullConversationHeadersOnly: headers(['inner-1', 'm2']) })
  store.message('own-id', 'outer-1', { bubbleId: 'inner-1', type: 1, text: 'Named by its own id', createdAt: iso(111) })
  store.message('own-id', 'm2', { type: 2, text: 'Named by its key', createdAt: iso(112) })
}

function writeRelations(store: Store): void {
  const task = 'task-call_8Fq\nfc_7c21'
  const one = { fullConversationHeadersOnly: headers(['m1']), createdAt: minute(120) }
  const message = (chatId: string): void =>
    store.message(chatId, 'm1', { type: 1, text: `Said in ${chatId}`, createdAt: iso(121) })
  store.chat(task, { ...one, name: 'A task' })
  store.chat('child', { ...one, name: 'A child', subagentInfo: { parentComposerId: 'parent' } })
  store.chat('named-child', { ...one, name: 'A child by its parent' })
  store.chat('parent', { ...one, name: 'A parent', subagentComposerIds: ['child', 'named-child'] })
  store.chat('archived', { ...one, name: 'Put away', isArchived: true, forceMode: 'edit' })
  store.chat('sp ace/sl?sh#50%\u00e9', { ...one, name: 'An id of odd signs' })
  for (const id of [task, 'child', 'named-child', 'parent', 'archived', 'sp ace/sl?sh#50%\u00e9']) message(id)
}

function writeTitles(store: Store): void {
  const two = { createdAt: String(minute(130)), fullConversationHeadersOnly: headers(['m1', 'm2']) }
  store.chat('blank-name', { ...two, name: '' })
  store.message('blank-name', 'm1', { type: 1, text: 'How do I   title this?\nAnd a line more', createdAt: iso(131) })
  store.message('blank-name', 'm2', { type: 2, text: 'You do not', createdAt: iso(132) })
  store.chat('nameless-answer', two)
  store.message('nameless-answer', 'm2', { type: 2, text: 'Nobody asked', createdAt: iso(132) })
}

/** More messages than fit into one answer. */
function writeLong(store: Store): void {
  const ids = Array.from({ length: 230 }, (_, at) => `n${at}`)
  store.chat('long', { name: 'A long one', createdAt: minute(200), fullConversationHeadersOnly: headers(ids) })
  for (const [at, id] of ids.toReversed().entries()) {
    const type = (ids.length - 1 - at) % 2 === 0 ? 1 : 2
    store.message('long', id, { type, text: `Number ${id}`, createdAt: iso(500 - at) })
  }
}

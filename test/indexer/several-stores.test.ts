import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { CursorHome, headers, type Store } from '../helpers/cursor.ts'
import { line, lines, said, writeTranscript } from '../helpers/eras/transcripts.ts'
import { Indexer, openIndexed } from '../helpers/in-process.ts'

const TABS = 'workbench.panel.aichat.view.aichat.chatdata'
const COMPOSERS = 'composer.composerData'
const T0 = Date.UTC(2026, 0, 5, 9)
const texts = [
  ['b1', 'plant an apple'],
  ['b2', 'it is planted'],
] as const
const unchanged = { added: 0, changed: 0, gone: 0 }

let home: CursorHome
let store: Store
let indexer: Indexer

beforeEach(() => {
  ;({ home, store, indexer } = openIndexed())
})

/** The stores of two profiles of one Cursor, and the indexer of both. */
function twoProfiles() {
  const profile = new CursorHome()
  const both = new Indexer(home.userDir, profile.userDir)
  onTestFinished(() => {
    both.remove()
    profile.remove()
  })
  return { former: home.global(), next: profile.global(), both }
}

const inline = (composerId: string, messageTexts: readonly (readonly [string, string])[]) => ({
  composerId,
  createdAt: T0,
  conversation: messageTexts.map(([bubbleId, text], at) => ({ bubbleId, type: 1 + (at % 2), text })),
})

/** @param messageTexts texts of the user and of the assistant in turn */
function transcript(slug: string, chatId: string, messageTexts: readonly string[]): string {
  const told = messageTexts.map((text, at) => line(at % 2 === 0 ? 'user' : 'assistant', said(text)))
  return writeTranscript(join(home.root, '.cursor'), slug, `${chatId}/${chatId}.jsonl`, lines(...told))
}

test('two workspaces with the same chat do not take it from each other in every pass', async () => {
  for (const name of ['wa', 'wb']) {
    home.workspace(name, { folder: `file:///w/${name}` }).item(COMPOSERS, { allComposers: [inline('c', texts)] })
  }
  await indexer.pass()
  await indexer.pass('values')
  expect(await indexer.pass('values')).toMatchObject(unchanged)
})

test('a chat that one of two workspaces lost is not marked as deleted', async () => {
  home.workspace('wa', null).item(COMPOSERS, { allComposers: [inline('c', texts)] })
  const second = home.workspace('wb', null)
  second.item(COMPOSERS, { allComposers: [inline('c', texts)] })
  await indexer.pass()
  second.item(COMPOSERS, { allComposers: [] })
  await indexer.pass()
  expect([indexer.chat('c'), indexer.counts.gone]).toMatchObject([{ deletedInCursor: false, messageCount: 2 }, 0])
})

test.each(['tail', 'keys', 'values'] as const)(
  'messages that the store lost and the workspace still has are not marked as deleted by a pass, %s',
  async (depth) => {
    home.workspace('wa', null).item(COMPOSERS, { allComposers: [inline('c', texts)] })
    store.chat('c', { fullConversationHeadersOnly: headers(['b1', 'b2']) })
    store.message('c', 'b1', { type: 1, text: 'plant an apple' })
    store.message('c', 'b2', { type: 2, text: 'it is planted' })
    await indexer.pass()
    store.delete('bubbleId:c:b2')
    store.message('c', 'b1', { type: 1, text: 'plant an apple' })
    await indexer.pass(depth)
    expect([indexer.chat('c'), indexer.counts.gone]).toMatchObject([{ deletedInCursor: false, messageCount: 2 }, 0])
    for (const key of ['composerData:c', 'bubbleId:c:b1']) store.delete(key)
    await indexer.pass('keys')
    expect([indexer.chat('c'), indexer.counts.gone, indexer.found('planted')]).toMatchObject([
      { deletedInCursor: false, messageCount: 2 },
      0,
      1,
    ])
    expect(await indexer.pass('values')).toMatchObject({ added: 0, gone: 0 })
    expect(await indexer.pass('values')).toMatchObject(unchanged)
  },
)

test('a tombstone in the store does not mark the chat of a transcript as deleted', async () => {
  store.chat('c', null)
  transcript('pa', 'c', ['plant an apple', 'done'])
  await indexer.pass()
  store.chat('c', null)
  await indexer.pass()
  expect(indexer.chat('c')).toMatchObject({ deletedInCursor: false, messageCount: 2 })
})

test.each([
  ['with the transcript read first', true],
  ['with the transcript read later', false],
])('a chat that Cursor deleted stays as complete as it was, %s', async (_, isFirst) => {
  const tell = (): string => transcript('pa', 'c', ['plant an apple', 'it is planted'])
  const at = (second: number): string => `2026-01-05T09:00:0${second}.000Z`
  const call = { name: 'read_file', toolCallId: 't', params: '{"path":"a"}', result: '{"contents":"walnut"}' }
  store.chat('c', { createdAt: T0, fullConversationHeadersOnly: headers(['b1', 'b2', 'b3']) })
  store.message('c', 'b1', { type: 1, text: 'plant an apple', createdAt: at(1) })
  store.message('c', 'b2', { type: 2, toolFormerData: { ...call, status: 'completed' }, createdAt: at(2) })
  store.message('c', 'b3', { type: 2, text: 'it is planted', createdAt: at(3) })
  if (isFirst) tell()
  await indexer.pass()
  store.chat('c', null)
  for (const id of ['b1', 'b2', 'b3']) store.delete(`bubbleId:c:${id}`)
  await indexer.pass('keys')
  tell()
  await indexer.pass('keys')
  expect(await indexer.pass('values')).toMatchObject(unchanged)
  const inThread = indexer.thread('c').flatMap(([id, position]) => (position === null ? [] : id))
  expect(inThread).toEqual(['b1', 'b2', 'b3'])
  expect(new Set(indexer.messages('c').flatMap((one) => (one.isOrphan ? [] : one.createdAtSource)))).toEqual(
    new Set(['message']),
  )
  expect([indexer.found('walnut'), indexer.found('apple'), indexer.found('planted')]).toEqual([1, 1, 1])
  expect(indexer.chat('c')).toMatchObject({ deletedInCursor: false })
})

test('a transcript with more than is left of a chat gives the chat', async () => {
  store.message('c', 'b1', { type: 1, text: 'plant an apple' })
  await indexer.pass()
  store.delete('bubbleId:c:b1')
  transcript('pa', 'c', ['plant a pear', 'it is planted', 'thank you'])
  await indexer.pass('keys')
  expect(indexer.chat('c')).toMatchObject({ deletedInCursor: false, messageCount: 3 })
})

test('messages that the store lost and a workspace still has stay in the thread', async () => {
  for (const [id, text] of texts) store.message('c', id, { type: 1, text })
  home.workspace('wa', null).item(COMPOSERS, { allComposers: [inline('c', texts)] })
  await indexer.pass()
  for (const [id] of texts) store.delete(`bubbleId:c:${id}`)
  await indexer.pass('keys')
  expect(indexer.thread('c').map(([id, position]) => [id, position])).toEqual([
    ['b1', 0],
    ['b2', 1],
    ['b1', null],
    ['b2', null],
  ])
})

test('a chat that continued in a second profile has the messages of both', async () => {
  const { former, next, both } = twoProfiles()
  for (const each of [former, next]) {
    each.chat('c', { fullConversationHeadersOnly: headers(['b1', 'b2']) })
    each.message('c', 'b1', { type: 1, text: 'plant an apple' })
    each.message('c', 'b2', { type: 2, text: 'it is planted' })
  }
  await both.pass()
  next.message('c', 'b2', { type: 2, text: 'it is planted, by the wall' })
  next.message('c', 'b3', { type: 1, text: 'and a pear' })
  next.chat('c', { fullConversationHeadersOnly: headers(['b1', 'b2', 'b3']) })
  await both.pass()
  const shown = both.thread('c').flatMap(([, position, text]) => (position === null ? [] : text))
  expect(shown).toEqual(['plant an apple', 'it is planted, by the wall', 'and a pear'])
  expect(both.chat('c')).toMatchObject({ deletedInCursor: false, messageCount: 3 })
  expect(await both.pass('values')).toMatchObject(unchanged)
})

test('a chat that moved to a second profile gets the name and the archive mark from there', async () => {
  const { former, next, both } = twoProfiles()
  const thread = { fullConversationHeadersOnly: headers(['b1']) }
  former.chat('c', { ...thread, name: 'Trees', isArchived: true, lastUpdatedAt: T0 })
  former.message('c', 'b1', { type: 1, text: 'plant an apple' })
  await both.pass()
  expect(both.chat('c')).toMatchObject({ title: 'Trees', isArchived: true })
  next.chat('c', { ...thread, name: 'Trees by the wall', lastUpdatedAt: T0 })
  next.message('c', 'b1', { type: 1, text: 'plant an apple' })
  former.delete('composerData:c')
  former.delete('bubbleId:c:b1')
  await both.pass('keys')
  expect(both.chat('c')).toMatchObject({ title: 'Trees by the wall', isArchived: false, deletedInCursor: false })
  next.delete('composerData:c')
  next.delete('bubbleId:c:b1')
  await both.pass('keys')
  expect(both.chat('c')).toMatchObject({ title: 'Trees by the wall', isArchived: false, deletedInCursor: true })
})

test('a prompt that is in rows and, with its time, in a transcript appears once', async () => {
  store.message('c', 'b1', { type: 1, text: 'plant an apple', createdAt: '2026-01-05T09:00:00.000Z' })
  store.message('c', 'b2', { type: 2, text: 'it is planted', createdAt: '2026-01-05T09:00:05.000Z' })
  const stamp = '<timestamp>Monday, Jan 5, 2026, 9:00 AM (UTC+0)</timestamp>\n'
  transcript('pa', 'c', [`${stamp}<user_query>\nplant an apple\n</user_query>`, 'it is planted'])
  await indexer.pass()
  expect([indexer.chat('c'), indexer.found('apple')]).toMatchObject([{ messageCount: 2 }, 1])
})

test('messages get a time when a list later gives the start of their chat', async () => {
  transcript('pa', 'c', ['plant an apple', 'done'])
  await indexer.pass()
  store.item('composer.composerHeaders', { allComposers: [{ composerId: 'c', name: 'Trees', createdAt: T0 }] })
  await indexer.pass('keys')
  const createdAt = new Date(T0).toISOString()
  expect(indexer.messages('c')).toMatchObject([{ createdAt }, { createdAt }])
})

test('a chat is no longer archived when the list that said so is gone', async () => {
  const workspace = home.workspace('wa', null)
  store.message('c', 'b1', { type: 1, text: 'plant an apple' })
  const head = { type: 'head', composerId: 'c' }
  workspace.item(COMPOSERS, { allComposers: [{ ...head, isArchived: true, lastUpdatedAt: T0 }] })
  await indexer.pass()
  expect(indexer.chat('c')).toMatchObject({ isArchived: true })
  workspace.item(COMPOSERS, { selectedComposerIds: [], hasMigratedComposerData: true })
  const open = { ...head, isArchived: false, lastUpdatedAt: T0 + 1000 }
  store.item('composer.composerHeaders', { allComposers: [open] })
  await indexer.pass('keys')
  expect(indexer.chat('c')).toMatchObject({ isArchived: false })
})

test('a subagent that its parent listed late gets its parent’s project', async () => {
  home.workspace('wa', { folder: 'file:///w/a' }, ['p'])
  for (const id of ['p', 'k']) store.message(id, 'm', { type: 1, text: `said in ${id}` })
  await indexer.pass()
  store.chat('p', { fullConversationHeadersOnly: headers(['m']), subagentComposerIds: ['k'] })
  await indexer.pass()
  expect(indexer.chat('k')).toMatchObject({ project: { name: 'a' } })
})

const sent = (name: string, toolCallId: string, additionalData: object = {}) => ({
  type: 2,
  toolFormerData: { name, toolCallId, params: { prompt: 'look' }, status: 'completed', additionalData },
})

test.each([
  ['called after the call', 'task-call_1\nfc_2', sent('task', 'call_1\nfc_2')],
  ['named by the call', 'k', sent('task_v2', 'call_1', { subagentComposerId: 'k' })],
])('a subagent %s alone is not among the chats, and has a project', async (_, childId, message) => {
  home.workspace('wa', { folder: 'file:///w/a' }, ['p'])
  const rows = (): void => store.chat(childId, { fullConversationHeadersOnly: headers(['m']) })
  store.message('p', 'm', message)
  await indexer.pass()
  expect(indexer.chat('p')?.childChatIds).toEqual(childId === 'k' ? ['k'] : [])
  rows()
  store.message(childId, 'm', { type: 1, text: 'said by it' })
  await indexer.pass()
  const [parent, child] = ['p', childId].map((id) => indexer.chat(id))
  expect(parent?.childChatIds).toEqual([childId])
  expect(child).toMatchObject({ id: childId, isSubagent: true, parentChatId: 'p', project: { name: 'a' } })
})

test('a chat that its own call names is in the list', async () => {
  home.global().message('p', 'm', sent('task_v2', 'call_1', { subagentComposerId: 'p' }))
  await indexer.pass()
  expect(indexer.chats).toMatchObject([{ isSubagent: false, childChatIds: [], parentChatId: null }])
})

test.each([
  ['into a prompt', 'plant an', 'plant an apple', 1],
  ['away from a prompt', 'plant an apple', 'plant a pear', 1],
])('a message rewritten %s appears once', async (_, before, after, times) => {
  home.workspace('wa', null).item('aiService.prompts', [{ text: 'plant an apple' }])
  store.message('c', 'b1', { type: 1, text: before })
  await indexer.pass()
  store.message('c', 'b1', { type: 1, text: after })
  await indexer.pass()
  expect(indexer.found('apple')).toBe(times)
})

test('a chat in two items of a workspace changes when the less complete one overtakes', async () => {
  const workspace = home.workspace('wa', null)
  const tab = { tabId: 'c', bubbles: [{ type: 'user', id: texts[0]?.[0], text: texts[0]?.[1] }] }
  workspace.item(COMPOSERS, { allComposers: [inline('c', texts)] })
  workspace.item(TABS, { tabs: [tab] })
  await indexer.pass()
  workspace.item(COMPOSERS, { allComposers: [] })
  await indexer.pass()
  expect(indexer.counts.live).toBe(1)
  workspace.item(TABS, { tabs: [] })
  await indexer.pass()
  expect(indexer.chat('c')).toMatchObject({ deletedInCursor: true })
})

test('a message that only a workspace and a transcript have is found once', async () => {
  store.chat('c', { fullConversationHeadersOnly: headers(['b1']) })
  store.message('c', 'b1', { type: 1, text: 'plant an apple' })
  const more = [...texts.slice(0, 1), ['x2', 'a walnut']] as const
  home.workspace('wa', null).item(COMPOSERS, { allComposers: [inline('c', more)] })
  transcript('pa', 'c', ['plant an apple', 'a walnut'])
  await indexer.pass()
  expect(indexer.found('walnut')).toBe(1)
})

test('a chat that rows took over from a transcript gets their format', async () => {
  transcript('pa', 'c', ['plant an apple', 'it is planted'])
  await indexer.pass()
  store.message('c', 'b1', { type: 1, text: 'plant an apple', createdAt: '2026-01-05T09:00:00.000Z' })
  await indexer.pass('keys')
  const fresh = new Indexer(home.userDir)
  onTestFinished(() => fresh.remove())
  fresh.homes = indexer.homes
  await fresh.pass()
  expect(indexer.chat('c')).toEqual(fresh.chat('c'))
})

test('an error that only the transcript has is shown in a thread with tool calls', async () => {
  store.chat('c', { fullConversationHeadersOnly: headers(['b1', 'b2']) })
  store.message('c', 'b1', { type: 1, text: 'plant an apple' })
  const tool = { tool: 1, name: 'read_file', status: 'completed', rawArgs: '{}' }
  store.message('c', 'b2', { type: 2, text: '', toolFormerData: tool })
  const path = transcript('pa', 'c', ['plant an apple'])
  writeFileSync(path, `${JSON.stringify({ type: 'error', error: 'quotaexhausted' })}\n`, { flag: 'a' })
  await indexer.pass()
  expect(indexer.found('quotaexhausted')).toBe(1)
})

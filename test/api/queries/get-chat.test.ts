import { afterEach, beforeEach, expect, it } from 'vitest'
import { getChat } from '../../../src/api/queries/chats/get-chat.ts'
import { asChatId } from '../../../src/model/ids.ts'
import type { ToolPart } from '../../../src/model/part.ts'
import { seedMirror } from '../../helpers/seed-mirror.ts'
import type { SeededMirror } from '../../helpers/seed-mirror.ts'

let mirror: SeededMirror
beforeEach(() => {
  mirror = seedMirror()
})
afterEach(() => mirror.dispose())

function call(name: string, paths: string[], status: ToolPart['status'] = 'completed'): ToolPart {
  return { kind: 'tool', name, status, callId: null, input: null, output: null, error: null, paths }
}

it('files are counted by use, and tools by the outcome of their calls', () => {
  const chat = mirror.addChat({ id: 'work' })
  mirror.addMessage(chat, { id: '1', parts: [{ kind: 'attachment', path: 'a.ts', text: 'x' }] })
  mirror.addMessage(chat, { id: '2', parts: [call('read_file_v2', ['a.ts']), call('Read', ['b.ts'])] })
  mirror.addMessage(chat, { id: '3', parts: [call('search_replace', ['a.ts']), call('StrReplace', ['a.ts'])] })
  mirror.addMessage(chat, { id: '4', parts: [call('search_replace', ['c.ts'], 'error')] })
  mirror.addMessage(chat, { id: '5', parts: [call('search_replace', ['c.ts'], 'rejected')] })
  mirror.addMessage(chat, { id: '6', parts: [call('list_dir', ['src'])] })
  mirror.addMessage(chat, { id: '7', isOrphan: true, parts: [call('write', ['orphan.ts'])] })

  const found = getChat(mirror.reader, asChatId('work'))
  expect(found?.files).toEqual([
    { path: 'a.ts', reads: 1, edits: 2, attached: 1 },
    { path: 'b.ts', reads: 1, edits: 0, attached: 0 },
  ])
  expect(found?.toolCounts).toEqual([
    { name: 'search_replace', calls: 3, errors: 1, rejected: 1 },
    { name: 'Read', calls: 1, errors: 0, rejected: 0 },
    { name: 'StrReplace', calls: 1, errors: 0, rejected: 0 },
    { name: 'list_dir', calls: 1, errors: 0, rejected: 0 },
    { name: 'read_file_v2', calls: 1, errors: 0, rejected: 0 },
  ])
})

it('children are the subagents in the mirror, oldest first', () => {
  mirror.addChat({ id: 'parent' })
  mirror.addChat({ id: 'second', createdAt: 20, title: 'Two', columns: { parent_chat_id: 'parent', is_subagent: 1 } })
  mirror.addChat({ id: 'first', createdAt: 10, title: 'One', columns: { is_subagent: 1, mode: 'agent' } })
  mirror.insert('chat_links', { parent_id: 'parent', child_id: 'first' })
  mirror.insert('chat_links', { parent_id: 'parent', child_id: 'parent' })
  mirror.insert('chat_links', { parent_id: 'parent', child_id: 'unseen' })

  const parent = getChat(mirror.reader, asChatId('parent'))
  expect(parent?.parentChatId).toBeNull()
  expect(parent?.children.map((child) => child.id)).toEqual(['first', 'second'])
  expect(parent?.children[0]).toEqual({
    id: 'first',
    title: 'One',
    mode: 'agent',
    createdAt: '1970-01-01T00:00:00.010Z',
    lastActivityAt: '1970-01-01T00:00:00.010Z',
    messageCount: 1,
    isSubagent: true,
    deletedInCursor: false,
  })
  expect(getChat(mirror.reader, asChatId('first'))?.parentChatId).toBe('parent')
})

it('an unknown id gives null', () => {
  expect(getChat(mirror.reader, asChatId("' or 1=1 --"))).toBeNull()
})

import { rmSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Chat } from '../../src/api/answers/chats.ts'
import type { Page } from '../../src/api/answers/common.ts'
import { headers } from '../helpers/cursor.ts'
import { line, lines, query, said, writeTranscript } from '../helpers/eras/transcripts.ts'
import { World } from '../helpers/world.ts'

let world: World
beforeEach(async () => {
  world = await World.open()
})
afterEach(async () => world.remove())

const task = (toolCallId: string, prompt: string, rest: object = {}) => ({
  type: 2,
  toolFormerData: { name: 'task', toolCallId, params: { prompt }, status: 'completed', ...rest },
})

/** A chat with a call for each prompt, whose subagents have rows under the calls' ids. */
function delegate(...prompts: readonly string[]): void {
  const store = world.home.global()
  store.chat('p', { fullConversationHeadersOnly: headers(prompts.map((_, at) => `m${at}`)) })
  for (const [at, prompt] of prompts.entries()) {
    store.message('p', `m${at}`, task(`call_${at}`, prompt))
    store.chat(`task-call_${at}`, { fullConversationHeadersOnly: headers(['q', 'a']) })
    store.message(`task-call_${at}`, 'q', { type: 1, text: prompt })
    store.message(`task-call_${at}`, 'a', { type: 2, text: `found for ${prompt}` })
  }
  world.home.close()
}

function transcribe(id: string, prompt: string): void {
  const told = lines(line('user', said(query(prompt))), line('assistant', said(`found for ${prompt}`)))
  writeTranscript(world.cursorHome, 'empty-window', `p/subagents/${id}.jsonl`, told)
}

async function listAll(): Promise<readonly string[]> {
  const { items } = await world.get<Page<Chat>>('/api/chats?limit=200&subagents=true&includeEmpty=true')
  return items.map(({ id, messageCount, childChatIds }) => [id, messageCount, ...childChatIds].join(' ')).toSorted()
}

test('a delegation with rows and a transcript is one child', async () => {
  delegate('look for moss', 'look for fern')
  transcribe('s1', 'look for fern')
  transcribe('s2', 'look for moss')
  transcribe('s3', 'look for reed')
  await world.sync()
  const children = 's3 task-call_0 task-call_1'
  const one = ['s3 2', 'task-call_0 2', 'task-call_1 2']
  expect((await listAll()).filter((told) => !told.startsWith('p '))).toEqual(one)
  expect((await listAll())[0]?.split(' ').slice(2).toSorted().join(' ')).toBe(children)
  expect(await world.get('/api/search?q=%22found+for+look+for+fern%22')).toMatchObject({ total: 1 })
  expect(await world.post('/api/sync', { full: true })).toMatchObject({ added: 0, changed: 0, gone: 0 })
})

test('a child whose rows Cursor deletes lives on in its transcript, and is not another chat', async () => {
  delegate('look for moss')
  transcribe('s1', 'look for moss')
  await world.sync()
  world.home.remove()
  const store = world.home.global()
  store.chat('other', { fullConversationHeadersOnly: headers(['m']) })
  store.message('other', 'm', { type: 1, text: 'unrelated' })
  transcribe('s1', 'look for moss')
  world.home.close()
  await world.post('/api/sync', { full: true })
  expect((await listAll()).filter((told) => /^(?:s1|task)/.test(told))).toEqual(['task-call_0 2'])
})

test('of two delegations with the same prompt nobody knows which transcript belongs to which', async () => {
  delegate('look for moss', 'look for moss')
  transcribe('s1', 'look for moss')
  await world.sync()
  expect((await listAll()).filter((told) => !told.startsWith('p '))).toEqual(['s1 2', 'task-call_0 2', 'task-call_1 2'])
})

test('the result of a call names the subagent if nothing else does', async () => {
  const store = world.home.global()
  store.chat('p', { fullConversationHeadersOnly: headers(['m']) })
  store.message('p', 'm', task('call_0', 'look for moss', { result: JSON.stringify({ agentId: 's1' }) }))
  world.home.close()
  writeTranscript(world.cursorHome, 'empty-window', 's1.jsonl', lines(line('user', said(query('look for moss')))))
  await world.sync()
  expect(await listAll()).toEqual(['p 1 s1', 's1 1'])
  rmSync(world.cursorHome, { recursive: true })
})

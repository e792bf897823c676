import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fillStore } from '../../helpers/fill-store.ts'
import { cursordexBin, untilReady, Workplace } from '../../helpers/spawn-cursordex.ts'

let place: Workplace
beforeEach(() => {
  place = new Workplace()
  fillStore(place.cursor.global(), { chats: 20, messagesPerChat: 10 })
})
afterEach(() => place.remove())

async function connect(): Promise<Client> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [cursordexBin, 'mcp', ...place.flags],
    env: process.env as Record<string, string>,
    stderr: 'pipe',
  })
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  return client
}

async function textOf(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const { content, isError } = await client.callTool({ name, arguments: args })
  expect(isError ?? false).toBe(false)
  return (content as { text: string }[])[0]?.text ?? ''
}

test.each([true, false])('the official client calls every tool over stdio (daemon: %s)', async (hasDaemon) => {
  if (hasDaemon) await untilReady((await place.serve()).url)
  const client = await connect()
  const chats = await textOf(client, 'list_chats', {})
  expect(chats).toContain('20 chats')
  const [, chat = ''] = /chat (\S+)$/m.exec(chats) ?? []
  expect(await textOf(client, 'get_chat', { chat })).toContain('First request')
  expect(await textOf(client, 'read_messages', { chat })).toContain('This is the end of the chat.')
  expect(await textOf(client, 'search_chats', { query: 'word', include_active: true })).toMatch(
    /messages found|No message/,
  )
  expect(await textOf(client, 'why_code', { path: 'nowhere.ts' })).toContain('No chat is about')
  expect(await textOf(client, 'get_usage', { group_by: 'month' })).toContain('Total')
  expect(await textOf(client, 'list_losses', {})).toContain('dropped nothing')
  const { contents } = await client.readResource({ uri: `cursordex://chats/${encodeURIComponent(chat)}` })
  expect(JSON.stringify(contents)).toContain('First request')
  const { messages } = await client.getPrompt({ name: 'why', arguments: { target: 'src/a.ts' } })
  expect(JSON.stringify(messages)).toContain('src/a.ts')
  await client.close()
})

test('raw JSON-RPC of protocol 2025-06-18 is served, a malformed line gets an error, and the program ends with its input', async () => {
  const child = spawn(process.execPath, [cursordexBin, 'mcp', ...place.flags], { stdio: ['pipe', 'pipe', 'pipe'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ask = async (message: object): Promise<Record<string, unknown>> => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    const { value } = await lines.next()
    return JSON.parse(String(value)) as Record<string, unknown>
  }
  const clientInfo = { name: 'raw', version: '1' }
  const opened = await ask({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
  })
  expect(opened).toMatchObject({ id: 1, result: { protocolVersion: '2025-06-18', serverInfo: { name: 'cursordex' } } })
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
  const called = await ask({ id: 2, method: 'tools/call', params: { name: 'list_chats', arguments: {} } })
  expect(JSON.stringify(called)).toContain('20 chats')
  const wrong = await ask({ id: 3, method: 'tools/call', params: { name: 'search_chats', arguments: { query: 7 } } })
  expect(wrong).toMatchObject({ id: 3, result: { isError: true } })
  const unknown = await ask({ id: 4, method: 'tools/call', params: { name: 'no_such_tool', arguments: {} } })
  expect(unknown).toHaveProperty('error')
  for (const [line, id, code] of [
    ['{"jsonrpc": "2.0", "id": 5, ', null, -32_700],
    ['{"jsonrpc": "2.0", "id": 6, "method": 7}', 6, -32_600],
    ['[1]', null, -32_600],
  ]) {
    child.stdin.write(`${line}\n`)
    const { value } = await lines.next()
    expect(JSON.parse(String(value))).toMatchObject({ jsonrpc: '2.0', id, error: { code } })
  }
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve))
  child.stdin.end()
  expect(await ended).toBe(0)
})

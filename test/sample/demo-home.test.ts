import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeDemoHome } from '../../src/sample/demo-home.ts'
import { readExpected } from '../helpers/oracle.ts'
import type { ExpectedChat } from '../helpers/oracle.ts'
import { bytesBelow } from '../helpers/oracle/canaries.ts'
import { expectAnswers } from '../helpers/oracle/compare.ts'
import { RunningDaemon } from '../helpers/running-daemon.ts'

// A Friday. Any other time must work as well.
const nowMs = Date.UTC(2026, 4, 15, 13, 30)
const DAY_MS = 86_400_000

const root = mkdtempSync(join(tmpdir(), 'cursordex-sample-'))
const home = writeDemoHome(join(root, 'demo'), { seed: 'demo', nowMs })
let daemon: RunningDaemon
let projects: readonly Project[]
let chats: readonly Chat[]
let messages: readonly Message[]

interface Project {
  readonly name: string
  readonly path: string
  readonly remote: { readonly kind: string; readonly host: string } | null
  readonly workspaceIds: readonly string[]
  readonly chatCount: number
}

interface Chat {
  readonly id: string
  readonly title: string
  readonly format: string
  readonly project: { readonly name: string } | null
  readonly createdAt: string
  readonly lastActivityAt: string
  readonly messageCount: number
  readonly isSubagent: boolean
  readonly parentChatId: string | null
  readonly childChatIds: readonly string[]
  readonly deletedInCursor: boolean
}

interface Message {
  readonly id: string
  readonly chatId: string
  readonly createdAt: string | null
  readonly tokens: { readonly input: number | null; readonly output: number | null; readonly source: string } | null
  readonly isOrphan: boolean
  readonly parts: readonly Part[]
}

interface Part {
  readonly kind: string
  readonly name?: string
  readonly status?: string
  readonly path?: string | null
  readonly language?: string | null
  readonly text?: string | null
}

const itemsOf = async <Item>(path: string): Promise<readonly Item[]> =>
  (await daemon.get<{ readonly items: readonly Item[] }>(path)).items

beforeAll(async () => {
  daemon = await RunningDaemon.start({ userDirs: [home.userDir] })
  await daemon.waitReady()
  projects = await itemsOf('/api/projects?limit=200')
  chats = await itemsOf('/api/chats?limit=200&subagents=true')
  const threads = chats.map(({ id }) => itemsOf<Message>(`/api/chats/${id}/messages?limit=200&includeOrphans=true`))
  messages = (await Promise.all(threads)).flat()
})

afterAll(async () => {
  await daemon?.stop()
  rmSync(root, { recursive: true, force: true })
})

test('the answers for the sample match an independent reading of it', async () => {
  const { chats: expected } = readExpected(home.globalPath)
  expect(expected.size).toBeGreaterThan(40)
  // That reading knows fewer fields of attachments and diffs. They have a test of their own.
  const partsOf = new Map(messages.map(({ id, parts }) => [id, parts]))
  const withFiles = [...expected].map(([id, chat]): [string, ExpectedChat] => {
    const known = chat.messages.map((message) => {
      const parts = partsOf.get(message.id ?? '') ?? []
      const attachment = parts.flatMap(({ kind, path }) => (kind === 'attachment' ? [path ?? ''] : []))
      const code = parts.flatMap(({ kind, text }) => (kind === 'code' ? [text ?? ''] : []))
      return { ...message, holdings: { ...message.holdings, attachment, code } }
    })
    return [id, { ...chat, messages: known }]
  })
  await expectAnswers(daemon, new Map(withFiles))
})

test('it has at least five projects: one over SSH, one with several roots, one with two workspaces', () => {
  expect(projects.length).toBeGreaterThanOrEqual(5)
  expect(projects.map(({ remote }) => remote)).toContainEqual({ kind: 'ssh', host: 'build-01' })
  expect(projects.filter(({ path }) => path.endsWith('.code-workspace'))).toHaveLength(1)
  expect(projects.map(({ workspaceIds }) => workspaceIds.length)).toContain(2)
  expect(Math.min(...projects.map(({ chatCount }) => chatCount))).toBeGreaterThanOrEqual(4)
})

test('it has more than forty chats in every format of the store, one of them without a project', () => {
  expect(chats.length).toBeGreaterThan(40)
  expect(chats.filter(({ messageCount }) => messageCount < 2)).toEqual([])
  expect(new Set(chats.map(({ format }) => format))).toEqual(new Set(['split', 'inline', 'map']))
  expect(chats.filter(({ project }) => project === null)).toHaveLength(1)
})

test('its chats are spread over nearly all of the last twelve months, and none is in the future', () => {
  const days = chats.map(({ createdAt }) => (nowMs - Date.parse(createdAt)) / DAY_MS)
  expect(Math.max(...days)).toBeLessThan(367)
  expect(Math.max(...days)).toBeGreaterThan(350)
  expect(Math.max(...chats.map(({ lastActivityAt }) => Date.parse(lastActivityAt)))).toBeLessThan(nowMs)
  expect(new Set(chats.map(({ createdAt }) => createdAt.slice(0, 7))).size).toBeGreaterThanOrEqual(10)
})

test('its messages have every kind of part', () => {
  const kinds = new Set(messages.flatMap(({ parts }) => parts.map(({ kind }) => kind)))
  expect(kinds).toEqual(new Set(['text', 'thinking', 'code', 'tool', 'attachment', 'todo', 'error']))
})

test('whole files and selected lines are attached to questions', () => {
  const attached = messages.flatMap(({ parts }) => parts.filter(({ kind }) => kind === 'attachment'))
  expect(attached).toContainEqual({
    kind: 'attachment',
    path: '/home/ada/code/shop/src/user/getUserName.ts',
    text: null,
  })
  const code = 'const ask = useMemo(() => debounce(fetchSuggestions, 150), [])'
  expect(attached).toContainEqual({
    kind: 'attachment',
    path: '/home/ada/code/shop/src/search/search-box.tsx',
    text: code,
  })
})

test('an edit of a new build has a diff beside it', () => {
  const diffs = messages.flatMap(({ parts }) => parts.filter(({ language }) => language === 'diff'))
  expect(diffs.length).toBeGreaterThan(10)
  const text = '-    greeting = f"Hello {get_user_name(user)}"\n+    greeting = f"Hello {display_name(user)}"'
  expect(diffs).toContainEqual({ kind: 'code', language: 'diff', path: 'app/mail.py', text })
})

test('its tools are those of old and new builds, completed, failed, rejected and cancelled', () => {
  const tools = messages.flatMap(({ parts }) => parts.filter(({ kind }) => kind === 'tool'))
  const names = new Set(tools.map(({ name }) => name))
  for (const name of ['read_file', 'edit_file', 'run_terminal_cmd', 'grep_search', 'grep'])
    expect(names).toContain(name)
  for (const name of ['read_file_v2', 'edit_file_v2', 'run_terminal_command_v2']) expect(names).toContain(name)
  const endings = new Set(tools.map(({ status }) => status))
  expect(endings).toEqual(new Set(['completed', 'error', 'rejected', 'cancelled']))
})

test('some old messages have recorded tokens; no new one has', () => {
  const recorded = messages.filter(({ tokens }) => tokens?.source === 'recorded')
  expect(recorded.length).toBeGreaterThan(10)
  const newestMs = Math.max(...recorded.map(({ createdAt }) => Date.parse(createdAt ?? '')))
  expect(newestMs).toBeLessThan(nowMs - 150 * DAY_MS)
})

test('a subagent is listed under its parent', () => {
  const child = chats.find(({ isSubagent }) => isSubagent)
  const parent = chats.find(({ id }) => id === child?.parentChatId)
  expect(parent?.childChatIds).toEqual([child?.id])
  expect(child?.project).toEqual(parent?.project)
})

test('there are orphans, a deleted chat, and a message without a row', async () => {
  expect(messages.filter(({ isOrphan }) => isOrphan)).toHaveLength(3)
  expect(chats.filter(({ deletedInCursor }) => deletedInCursor)).toHaveLength(1)
  expect(await daemon.get('/api/status')).toMatchObject({ state: 'ready', issues: {} })
})

test.each([
  ['connection pool', 'ledger-api'],
  ['userName', 'shop'],
  ['Temperaturfühler', 'thermostat'],
  ['数据库', 'ledger-api'],
  ['同期', 'field-notes'],
  ['로그인', 'atlas'],
  ['goroutine', 'fleet-gateway'],
])('%s is found in %s', async (words, project) => {
  const hits = await itemsOf<{ readonly project: { readonly name: string } | null }>(
    `/api/search?q=${encodeURIComponent(words)}`,
  )
  expect(hits.map((hit) => hit.project?.name)).toContain(project)
})

test('drafts, other rows and the account’s token are not mirrored', () => {
  const kept = bytesBelow(daemon.dataDir)
  expect(kept).toContain('getUserName')
  for (const secret of ['sample-token-that-nobody-may-read', 'unsent words', 'You are an agent.']) {
    expect(bytesBelow(home.userDir)).toContain(secret)
    expect(kept).not.toContain(secret)
  }
})

function rowsOf(path: string): unknown[] {
  const db = new Database(path, { readonly: true })
  const rows = db.prepare('select key, value from cursorDiskKV order by rowid').all()
  db.close()
  return rows
}

test('the same seed and hour give the same rows, another seed gives others', () => {
  const again = writeDemoHome(join(root, 'again'), { seed: 'demo', nowMs })
  const other = writeDemoHome(join(root, 'other'), { seed: 'another', nowMs })
  expect(rowsOf(again.globalPath)).toEqual(rowsOf(home.globalPath))
  expect(rowsOf(other.globalPath)).not.toEqual(rowsOf(home.globalPath))
})

test.each(['2026-01-01T00:00:00Z', '2026-03-02T06:10:00Z', '2027-02-28T23:59:59Z'])(
  'created at %s, nothing is in the future',
  (iso) => {
    const atMs = Date.parse(iso)
    const { globalPath } = writeDemoHome(join(root, iso.replaceAll(':', '-')), { seed: 'demo', nowMs: atMs })
    const { chats: expected } = readExpected(globalPath)
    const times = [...expected.values()].flatMap((chat) =>
      chat.messages.map(({ createdAt }) => Date.parse(createdAt ?? '')),
    )
    expect(times.length).toBeGreaterThan(250)
    expect(Math.max(...times)).toBeLessThan(atMs)
  },
)

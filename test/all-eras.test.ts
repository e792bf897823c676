import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DoctorReport } from '../src/cli/commands/doctor.ts'
import { CursorHome } from './helpers/cursor.ts'
import { run } from './cli/fake-world.ts'
import { cliCanary, cliEras } from './helpers/eras/cli-store.ts'
import {
  eraListed,
  eraOutput,
  eraPlan,
  eraWorktree,
  globalEras,
  heldByWorkspaces,
  repeatedPrompt,
  writeAllEras,
} from './helpers/eras/all-eras.ts'
import { eraOutputs, eraOverlong, forkedInput, reviewedCalls, rowEras } from './helpers/eras/global-rows.ts'
import { committedChat, trackedChat, trackingCanary } from './helpers/eras/tracking.ts'
import { eraFlat, transcriptEras } from './helpers/eras/transcripts.ts'
import { canary, eraPrompts, workspaceEras } from './helpers/eras/workspace-items.ts'
import { bytesBelow } from './helpers/oracle/canaries.ts'
import { archiveAll } from './helpers/restored-daemon.ts'
import { RunningDaemon } from './helpers/running-daemon.ts'

interface ChatAnswer {
  readonly id: string
  readonly title: string
  readonly format: string
  readonly isArchived: boolean
  readonly isSubagent: boolean
  readonly parentChatId: string | null
  readonly messageCount: number
  readonly project: { readonly id: string } | null
}

interface MessageAnswer {
  readonly role: string
  readonly createdAt: string | null
  readonly createdAtSource: string | null
  readonly parts: readonly { readonly kind: string; readonly text?: string }[]
}

interface ProjectAnswer {
  readonly id: string
  readonly uri: string
  readonly remote: { readonly kind: string; readonly host: string } | null
}

interface List<Item> {
  readonly items: readonly Item[]
  readonly total: number
}

const home = new CursorHome()
const cursorHome = join(home.root, '.cursor')
let daemon: RunningDaemon
let chats: List<ChatAnswer>
let projects: List<ProjectAnswer>

beforeAll(async () => {
  writeAllEras(home, cursorHome)
  daemon = await RunningDaemon.start({ userDirs: [home.userDir], flags: ['--cursor-home', cursorHome] })
  await daemon.waitReady()
  chats = await daemon.get<List<ChatAnswer>>('/api/chats?limit=200&subagents=true&includeEmpty=true')
  projects = await daemon.get<List<ProjectAnswer>>('/api/projects?limit=200')
})

afterAll(async () => {
  await daemon?.stop()
  home.remove()
})

const chatOf = (id: string): ChatAnswer | undefined => chats.items.find((chat) => chat.id === id)
const rootOf = (id: string): string | null => {
  const project = chatOf(id)?.project
  return projects.items.find((each) => each.id === project?.id)?.uri ?? null
}

async function messagesOf(id: string): Promise<readonly MessageAnswer[]> {
  const path = `/api/chats/${encodeURIComponent(id)}/messages?limit=200`
  return (await daemon.get<List<MessageAnswer>>(path)).items
}

async function textsOf(id: string): Promise<string[]> {
  return (await messagesOf(id)).map(
    ({ role, parts }) =>
      `${role}: ${parts.flatMap(({ kind, text }) => (kind === 'text' || kind === 'summary' ? text : [])).join('\n')}`,
  )
}

test('the tokens of a row without content count for the message before it', async () => {
  const { rows } = await daemon.get<{ rows: { key: string; recorded: unknown }[] }>('/api/tokens?groupBy=chat')
  const row = rows.find(({ key }) => key === 'era-placeholder')
  expect(row?.recorded).toEqual({ input: 160, output: 8, messages: 3 })
})

test('the tokens of a forked chat count once, in the chat that began first', async () => {
  const { rows } = await daemon.get<{ rows: { key: string; recorded: { input: number } | null }[] }>(
    '/api/tokens?groupBy=chat&limit=1000',
  )
  const inputOf = (id: string): unknown => rows.find(({ key }) => key === id)?.recorded?.input ?? null
  expect(Object.fromEntries(Object.keys(forkedInput).map((id) => [id, inputOf(id)]))).toEqual(forkedInput)
})

test('no chat and no project is there twice', () => {
  expect(chats.total).toBe(chats.items.length)
  expect(new Set(chats.items.map(({ id }) => id)).size).toBe(chats.items.length)
  expect(new Set(projects.items.map(({ uri }) => uri)).size).toBe(projects.items.length)
})

const unplaced = globalEras.map((era) => ({ ...era, rootUri: null }))
const speaking = [...workspaceEras, ...unplaced].flatMap((era) =>
  era.chats
    .filter(({ messages, format }) => messages.length > 0 && format !== 'prompts')
    .map((chat) => ({ ...chat, era: era.name, rootUri: era.rootUri })),
)

test.each(speaking)(
  'chat $id of $era has every message and no draft, in its project if it has one',
  async ({ id, format, messages, rootUri }) => {
    expect(await textsOf(id)).toEqual(messages.map(({ role, text }) => `${role}: ${text}`))
    expect([chatOf(id)?.format, rootOf(id)]).toEqual([format, rootUri])
  },
)

test.each([...rowEras, eraOutputs])('the global store has the messages of $name', async ({ id, messages }) => {
  expect(await messagesOf(id)).toMatchObject(messages)
})

test('a search warns only in the chat that is not completely indexed', async () => {
  for (const { id } of rowEras) {
    const { warnings } = await daemon.get<{ warnings: readonly string[] }>(`/api/search?q=the&chat=${id}`)
    expect([id, warnings.some((text) => text.includes('too long to be indexed whole'))]).toEqual([
      id,
      id === eraOverlong.id,
    ])
  }
})

const named = workspaceEras.flatMap(({ headIds, openIds, rootUri }) =>
  [...headIds, ...openIds].filter((id) => !heldByWorkspaces.has(id)).map((id) => [id, rootUri] as const),
)

test.each(named)('chat %s, which a workspace only lists, has the project %s', (id, rootUri) => {
  expect(rootOf(id)).toBe(rootUri)
})

const transcribed = transcriptEras.flatMap((era) => (era.chatId === null ? [] : [{ ...era, chatId: era.chatId }]))

test.each(transcribed)(
  'the transcript of $name has its messages, in its project, under its parent',
  async ({ chatId, messages, rootUri, parentChatId }) => {
    expect(await textsOf(chatId)).toEqual(messages.map(({ role, text }) => `${role}: ${text ?? ''}`))
    expect(chatOf(chatId)).toMatchObject({ format: 'transcript', parentChatId, isSubagent: parentChatId !== null })
    expect(rootOf(chatId)).toBe(rootUri)
  },
)

const ofCli = cliEras.flatMap((era) => (era.chatId === null ? [] : [{ ...era, chatId: era.chatId }]))

test.each(ofCli)(
  'the command-line chat $name has its messages once, with their times, in its project',
  async ({ chatId, messages, rootUri, title }) => {
    expect(await textsOf(chatId)).toEqual(messages.map(({ role, text }) => `${role}: ${text ?? ''}`))
    expect(chatOf(chatId)).toMatchObject({ format: 'cli', ...(title === null ? {} : { title }) })
    expect(rootOf(chatId)).toBe(rootUri)
    const times = (await messagesOf(chatId)).map(({ createdAt, createdAtSource }) =>
      createdAtSource === 'message' ? createdAt : null,
    )
    expect(times).toEqual(messages.map(({ atMs }) => (atMs === null ? null : new Date(atMs).toISOString())))
    const words = messages.map(({ text }) => text).find((text) => text !== null) ?? ''
    expect(await daemon.get(`/api/search?q=${encodeURIComponent(`"${words}"`)}`)).toMatchObject({ total: 1 })
  },
)

test('an empty chat of the command line is not a chat', () => {
  expect(chatOf('era-cli-silent')).toBeUndefined()
})

test.each(globalEras.flatMap(({ evidence }) => evidence.map((one) => one.split(' '))))(
  'chat %s is assigned by %s to the project %s',
  (id, _method, uri) => {
    expect(rootOf(id ?? '')).toBe(uri)
  },
)

test.each(globalEras.flatMap(({ heads }) => heads))('$chatId has the facts of its list', (head) => {
  expect(chatOf(head.chatId)).toMatchObject({
    ...(head.name === null ? {} : { title: head.name }),
    isArchived: head.isArchived ?? false,
    isSubagent: head.isSubagent ?? false,
    parentChatId: head.parentChatId,
  })
})

test('a chat in a working tree belongs to the repository', async () => {
  expect(chatOf(eraWorktree.id)).toMatchObject({ worktree: eraWorktree.worktree })
  expect(rootOf(eraWorktree.id)).toBe(eraWorktree.rootUri)
  const { items } = await daemon.get<List<{ chat: { id: string } }>>('/api/search?q=worktree:x1y')
  expect(items.map(({ chat }) => chat.id)).toEqual([eraWorktree.id])
})

test('a plan’s file is a document of its chat, after the call that wrote it, with its later words and todos', async () => {
  const messages = await messagesOf(eraPlan.id)
  const [document] = messages.flatMap(({ parts }) => (parts[0]?.kind === 'plan' ? [parts] : []))
  expect(document).toEqual([
    { kind: 'plan', title: 'Glaze kiln', path: join(cursorHome, 'plans', eraPlan.file), text: eraPlan.texts[2] },
    { kind: 'todo', items: [{ id: 't0', content: 'Fire it', status: 'completed' }] },
  ])
  expect(messages.map(({ parts }) => parts[0]?.text)).toEqual(eraPlan.texts)
  const { items } = await daemon.get<List<{ chat: { id: string } }>>('/api/search?q=in%3Aplan%20cobalt')
  expect(items.map(({ chat }) => chat.id)).toEqual([eraPlan.id])
})

test('a chat that only a list names is listed on request, as what it is, and found by its title', async () => {
  const q = encodeURIComponent(eraListed.title)
  const { items } = await daemon.get<List<object>>(`/api/chats?includeEmpty=true&q=${q}`)
  expect(items[0]).toMatchObject({ ...eraListed, isListedOnly: true, messageCount: 0, deletedInCursor: false })
  const shown = await daemon.get<List<ChatAnswer>>('/api/chats?limit=200&subagents=true')
  expect(shown.items.filter(({ id }) => id === eraListed.id)).toEqual([])
})

test('a long output that Cursor wrote to a file joins the call of the transcript', async () => {
  const [, answer] = await messagesOf(eraOutput.id)
  expect(answer?.parts).toMatchObject([{ kind: 'tool', name: 'Read', output: eraOutput.text }])
})

test('remote projects keep their host', () => {
  const remotes = projects.items.flatMap(({ remote }) => (remote === null ? [] : [`${remote.kind} ${remote.host}`]))
  expect(remotes).toContain('ssh box')
})

test('every message of every thread is found by its words', async () => {
  for (const { id } of chats.items) {
    for (const text of await textsOf(id)) {
      const words = text.replace(/^\w+: /, '').match(/[A-Za-z]{3,}/g) ?? []
      if (words.length === 0) continue
      const q = encodeURIComponent(words.slice(0, 8).join(' '))
      const answer = await daemon.get<{ total: number }>(`/api/search?q=${q}&chat=${encodeURIComponent(id)}`)
      expect([id, text, answer.total > 0]).toEqual([id, text, true])
    }
  }
})

test('a prompt of a chat is not repeated, and the other prompts are kept', async () => {
  const [prompts] = eraPrompts.chats
  const left = prompts?.messages.filter(({ text }) => text !== repeatedPrompt).map(({ text }) => `user: ${text}`)
  expect(left).not.toEqual([])
  expect(await textsOf(prompts?.id ?? '')).toEqual(left)
  expect(chatOf(prompts?.id ?? '')).toMatchObject({ format: 'prompts', messageCount: left?.length })
})

test('a chat in both the store and a transcript is shown once', async () => {
  expect(await textsOf('era-both')).toEqual([
    'user: Told by both',
    'assistant: Answered by both',
    `user: ${repeatedPrompt}`,
  ])
  for (const query of ['"answered by both"', 'chat:era-both role:assistant']) {
    expect(await daemon.get(`/api/search?q=${encodeURIComponent(query)}`)).toMatchObject({ total: 1 })
  }
})

test('calls that the user rejected in a dialog count as rejected, and other calls do not', async () => {
  const { byTool } = await daemon.get<{ byTool: readonly { name: string }[] }>('/api/stats')
  expect(byTool.find(({ name }) => name === 'run_terminal_cmd')).toMatchObject(reviewedCalls)
})

test('a chat with only a transcript gets its model and times from Cursor’s records of its code', async () => {
  const [firstAt, lastAt] = [trackedChat.firstAtMs, trackedChat.lastAtMs].map((ms) => new Date(ms).toISOString())
  expect(await daemon.get(`/api/chats/${trackedChat.id}`)).toMatchObject({
    model: trackedChat.models[0],
    models: trackedChat.models,
    modelSource: 'tracking',
    createdAt: firstAt,
    lastActivityAt: lastAt,
  })
  const items = await messagesOf(trackedChat.id)
  expect(items).toMatchObject(items.map(() => ({ createdAt: firstAt, createdAtSource: 'tracking' })))
})

test('a scored commit is evidence for a chat with code recorded at that time', async () => {
  const { id, subject, trackedAtMs } = committedChat
  const { project } = await daemon.get<{ readonly project: { readonly id: string } }>(`/api/chats/${id}`)
  const { items } = await daemon.get<List<object>>(`/api/commits?repo=${project.id}`)
  const at = new Date(trackedAtMs).toISOString()
  expect(items).toMatchObject([
    { subject, chats: [{ id, confidence: 'medium', evidence: { tracking: { from: at, to: at } } }] },
  ])
})

test('a second pass over everything changes nothing', async () => {
  expect(await daemon.post('/api/sync', { full: true })).toMatchObject({ changed: 0, added: 0, gone: 0 })
})

test('doctor knows every row and reports no loss and no problem', async () => {
  const places = ['--data-dir', daemon.dataDir, '--cursor-user-dir', home.userDir, '--cursor-home', cursorHome]
  const { out, exitCode } = await run(['doctor', '--json', ...places])
  const { stores, losses } = JSON.parse(out) as DoctorReport
  expect(stores.length).toBeGreaterThan(3)
  const troubled = stores.filter(({ unknown, issues, pendingLoss, chats: held, messages }) => {
    const lacking = [held?.lost, messages?.keptHere]
    const counts = [unknown.length, issues.length, ...lacking]
    return pendingLoss !== null || counts.some((count) => (count ?? 0) !== 0)
  })
  expect([exitCode, troubled]).toEqual([0, []])
  expect(losses).toMatchObject({ messages: 0, chats: 0 })
  const text = (await run(['doctor', ...places])).out
  expect(text).toMatch(/^No problems: every store was read completely\.\n/)
  expect(text).toContain('Nothing was lost.')
  expect(text).not.toMatch(/Needs attention|unknown|gone|missing|deleted/)
})

test('no access token from the stores is in the mirror or the log', () => {
  expect(bytesBelow(home.userDir)).toContain(canary)
  expect(bytesBelow(daemon.dataDir)).not.toContain(canary)
  expect(daemon.stderr + daemon.stdout).not.toContain(canary)
  expect(bytesBelow(cursorHome)).toContain(cliCanary)
  expect(bytesBelow(cursorHome)).toContain(trackingCanary)
  expect(bytesBelow(daemon.dataDir) + daemon.stderr + daemon.stdout).not.toContain(trackingCanary)
  expect(bytesBelow(daemon.dataDir) + daemon.stderr + daemon.stdout).not.toContain(cliCanary)
})

test('everything except copies is archived, and each message is read back unchanged', async () => {
  const made = await archiveAll(daemon)
  const { counts } = await daemon.get<{ counts: { messages: number } }>('/api/status')
  expect(made.state).toBe('verified')
  expect(made.chats).toBeGreaterThan(0)
  expect(made.messages).toBeGreaterThanOrEqual(counts.messages)
  expect(await daemon.post(`/api/archives/${made.name}/verify`)).toMatchObject({
    ok: true,
    damaged: [],
    unexpected: [],
  })
})

test('a transcript’s line that is rewritten with other words is kept, marked as deleted, and is a loss', async () => {
  const path = join(cursorHome, 'projects', eraFlat.slug, 'agent-transcripts', eraFlat.file)
  writeFileSync(path, readFileSync(path, 'utf8').replace('Seven.', 'Eight at a second count.'))
  await daemon.post('/api/sync')
  const { items } = await daemon.get<List<{ kind: string; chatId: string }>>('/api/losses')
  expect(items).toMatchObject([{ kind: 'message', chatId: 'era-flat' }])
  expect((await textsOf('era-flat')).at(-1)).toContain('Eight at a second count.')
  const found = await daemon.get<List<object>>('/api/search?q=seven&chat=era-flat')
  expect(found.items).toMatchObject([{ message: { isOrphan: true } }])
})

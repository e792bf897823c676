import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWriter } from '../src/mirror/open.ts'
import { redateNext } from '../src/mirror/threads/redate.ts'
import { cliFolder, CliStore, CursorHome, encodeState, type Store } from './helpers/cursor.ts'
import { cliRoot } from './helpers/eras/cli-store.ts'
import { line, lines, query, said, writeTranscript } from './helpers/eras/transcripts.ts'
import { writeAllEras } from './helpers/eras/all-eras.ts'
import { asBeforeTimes } from './helpers/mirror-before-times.ts'
import { RunningDaemon } from './helpers/running-daemon.ts'

/**
 * Threads: who wrote each message (`u` or `a`), the hour of its own time if it has one, and the hours that the messages
 * must have. Hour 0 is the time of the chat.
 */
const threads: Readonly<Record<string, readonly [thread: string, hours: readonly number[]]>> = {
  'an answer that follows its question days before the next': ['u1 a u200 a', [1, 1, 200, 200]],
  'two answers, then a question without a time': ['u1 a a u a9', [1, 1, 1, 9, 9]],
  'a question and its answer before the first time': ['u a u5 a', [5, 5, 5, 5]],
  'a last question that nothing follows': ['u1 a3 u', [1, 3, 3]],
  'a last answer after another one': ['u1 a3 a a', [1, 3, 3, 3]],
  'questions and answers without any time': ['u a u a', [0, 0, 0, 0]],
}
const names = Object.keys(threads)

interface Said {
  readonly role: 'user' | 'assistant'
  readonly text: string
  /** Its own time. */
  readonly hour: number | null
}

/** Each message has a word that is nowhere else. */
const saidIn = (at: number): Said[] =>
  (threads[names[at] ?? ''] ?? ['', []])[0].split(' ').map((one, position) => ({
    role: one.startsWith('u') ? 'user' : 'assistant',
    text: `Said orchid${at}x${position}`,
    hour: one.length === 1 ? null : Number(one.slice(1)),
  }))

const START_MS = Date.UTC(2026, 4, 4, 8)
const isoOf = (hour: number): string => new Date(START_MS + hour * 3_600_000).toISOString()

/** As the agent writes the time of a prompt. */
function promptOf({ text, hour }: Said): string {
  if (hour === null) return query(text)
  const clock = { weekday: 'long', year: 'numeric', month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' }
  const shown = new Date(isoOf(hour)).toLocaleString('en-US', {
    timeZone: 'UTC',
    ...clock,
  } as Intl.DateTimeFormatOptions)
  return `<timestamp>${shown} (UTC+0)</timestamp>\n${query(text)}`
}

const home = new CursorHome()
const cursorHome = join(home.root, '.cursor')
let store: Store

/** The ways to write the first messages of a thread, each replacing what was written of it before. */
const writers: Readonly<Record<string, (at: number, all: readonly Said[]) => void>> = {
  database: (at, all) => {
    const id = `times-database-${at}`
    const rows = all.map(({ role, text, hour }, position) => {
      const createdAt = hour === null ? {} : { createdAt: isoOf(hour) }
      return [`${id}-${position}`, { type: role === 'user' ? 1 : 2, text, ...createdAt }] as const
    })
    for (const [messageId, row] of rows) store.message(id, messageId, row)
    const fullConversationHeadersOnly = rows.map(([bubbleId, { type }]) => ({ bubbleId, type }))
    store.chat(id, { createdAt: START_MS, fullConversationHeadersOnly })
  },
  cli: (at, all) => {
    const id = `times-cli-${at}`
    const cli = new CliStore(cliFolder(cursorHome, cliRoot, id))
    const entries = all.map((one) =>
      cli.blob({ role: one.role, content: one.role === 'user' ? promptOf(one) : [said(one.text)] }),
    )
    const latestRootBlobId = cli.blob(encodeState({ entries }))
    cli.facts({ agentId: id, latestRootBlobId, name: 'New Agent', createdAt: START_MS })
    cli.close()
  },
  transcript: (at, all) => {
    const told = all.map((one) => line(one.role, said(one.role === 'user' ? promptOf(one) : one.text)))
    writeTranscript(cursorHome, 'yard-kiln', `times-transcript-${at}.jsonl`, lines(...told))
  },
}

/** Only the user's messages have times of their own in the stores of the command line and in transcripts. */
const cases = names.flatMap((name, at) =>
  Object.keys(writers).flatMap((kind) =>
    kind !== 'database' && saidIn(at).some(({ role, hour }) => role === 'assistant' && hour !== null)
      ? []
      : [{ name, kind, at, id: `times-${kind}-${at}` }],
  ),
)

const dataDirs = ['live', 'fresh'].map((name) => mkdtempSync(join(tmpdir(), `cursordex-${name}-`)))
let daemon: RunningDaemon

async function start(dataDir = dataDirs[0] ?? ''): Promise<void> {
  daemon = await RunningDaemon.start({ userDirs: [home.userDir], dataDir, flags: ['--cursor-home', cursorHome] })
  await daemon.waitReady()
}

interface List<Item> {
  readonly items: readonly Item[]
}

interface Message {
  readonly id: string
  readonly role: string
  readonly createdAt: string | null
  readonly createdAtSource: string | null
}

const messagesOf = async (id: string): Promise<readonly Message[]> =>
  (await daemon.get<List<Message>>(`/api/chats/${encodeURIComponent(id)}/messages?limit=200&includeOrphans=true`)).items

/** The times of all messages of all chats. */
async function allTimes(): Promise<string[]> {
  const { items } = await daemon.get<List<{ id: string }>>('/api/chats?limit=200&subagents=true&includeEmpty=true')
  const times: string[] = []
  for (const { id } of items) {
    for (const { id: message, createdAt, createdAtSource } of await messagesOf(id)) {
      times.push([id, message, createdAt, createdAtSource].join(' '))
    }
  }
  return times.sort()
}

/** What is counted by day. */
async function countsByDay(): Promise<unknown> {
  const { series, byHour } = await daemon.get<{ series: unknown; byHour: unknown }>('/api/stats?tz=UTC')
  const { rows } = await daemon.get<{ rows: { key: string; coverage: { messages: number } }[] }>(
    '/api/tokens?groupBy=day&tz=UTC&limit=1000',
  )
  return { series, byHour, tokens: rows.map(({ key, coverage }) => [key, coverage.messages]) }
}

beforeAll(async () => {
  writeAllEras(home, cursorHome)
  store = home.global()
  for (const { kind, at } of cases) writers[kind]?.(at, saidIn(at).slice(0, 2))
  await start()
  // The rest comes while the program runs. Then an answer is written again and again, as while an agent writes it.
  for (const { kind, at } of cases) writers[kind]?.(at, saidIn(at))
  await daemon.post('/api/sync')
  for (let turn = 0; turn < 3; turn += 1) {
    store.message('times-database-0', 'times-database-0-1', { type: 2, text: `Said orchid0x1${' again'.repeat(turn)}` })
    await daemon.post('/api/sync')
  }
})

afterAll(async () => {
  await daemon?.stop()
  home.remove()
  for (const dir of dataDirs) rmSync(dir, { recursive: true, force: true })
})

test.each(cases)('$name: each message of the $kind has the time of its own turn', async ({ id, kind, at }) => {
  const [, hours] = threads[names[at] ?? ''] ?? ['', []]
  // A transcript does not tell the time of its chat.
  const expected = hours.map((hour) => (hour === 0 && kind === 'transcript' ? null : isoOf(hour)))
  expect((await messagesOf(id)).map(({ createdAt }) => createdAt)).toEqual(expected)
})

test('messages that came while the program ran have the times that a new mirror gives them', async () => {
  const live = { times: await allTimes(), counts: await countsByDay() }
  expect(live.times.filter((one) => one.endsWith(' neighbour')).length).toBeGreaterThan(cases.length)
  await daemon.stop()
  await start(dataDirs[1])
  expect({ times: await allTimes(), counts: await countsByDay() }).toEqual(live)
  await daemon.stop()
  await start()
})

test('a mirror of the version before gets the new times, also in chats that Cursor no longer has', async () => {
  const before = { times: await allTimes(), counts: await countsByDay() }
  await daemon.stop()
  // One chat of each kind is deleted.
  store.deleteChat('times-database-0')
  rmSync(cliFolder(cursorHome, cliRoot, 'times-cli-0'), { recursive: true })
  rmSync(join(cursorHome, 'projects', 'yard-kiln', 'agent-transcripts', 'times-transcript-0.jsonl'))
  const path = join(dataDirs[0] ?? '', 'mirror.db')
  expect(asBeforeTimes(path).chats).toBeGreaterThan(3)
  // The program is ended after the first chat.
  const db = openWriter(path)
  const waiting = (): unknown => db.prepare('select count(*) from misdated').pluck().get()
  const all = Number(waiting())
  expect(redateNext(db, Date.now())).toBe(true)
  expect(waiting()).toBe(all - 1)
  db.close()
  await start()
  await daemon.post('/api/sync', { full: true })
  expect({ times: await allTimes(), counts: await countsByDay() }).toEqual(before)
  for (const kind of Object.keys(writers)) {
    const id = `times-${kind}-0`
    expect(await daemon.get(`/api/chats/${id}`)).toMatchObject({ deletedInCursor: true })
    // The answer is found on its own day, and not on the day of the next question.
    const days = ['2026-05-04', '2026-05-12'].map(async (day) =>
      daemon.get(`/api/search?q=orchid0x1&chat=${id}&from=${day}&to=${day}T23:59:00Z&tz=UTC`),
    )
    expect(await Promise.all(days)).toMatchObject([{ total: 1 }, { total: 0 }])
  }
})

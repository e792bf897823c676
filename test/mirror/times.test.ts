import { afterAll, beforeAll, expect, test } from 'vitest'
import { cliFolder, CliStore, encodeState, type Store } from '../helpers/cursor.ts'
import { cliRoot } from '../helpers/eras/cli-store.ts'
import { line, lines, query, said, writeTranscript } from '../helpers/eras/transcripts.ts'
import { World } from '../helpers/world.ts'

/**
 * Threads: who wrote each message (`u` or `a`), the hour of its own time if it has one, and the hours that the messages
 * must have. Hour 0 is the time of the chat.
 */
const threads: readonly (readonly [name: string, thread: string, hours: readonly number[]])[] = [
  ['an answer that follows its question days before the next', 'u1 a u200 a', [1, 1, 200, 200]],
  ['two answers, then a question without a time', 'u1 a a u a9', [1, 1, 1, 9, 9]],
  ['a question and its answer before the first time', 'u a u5 a', [5, 5, 5, 5]],
  ['a last question that nothing follows', 'u1 a3 u', [1, 3, 3]],
  ['a last answer after another one', 'u1 a3 a a', [1, 3, 3, 3]],
  ['questions and answers without any time', 'u a u a', [0, 0, 0, 0]],
]

interface Said {
  readonly role: 'user' | 'assistant'
  readonly text: string
  /** Its own time. */
  readonly hour: number | null
}

/** Each message has a word that is nowhere else. */
const saidIn = (at: number): Said[] =>
  (threads[at]?.[1] ?? '').split(' ').map((one, position) => ({
    role: one.startsWith('u') ? 'user' : 'assistant',
    text: `Said orchid${at}x${position}`,
    hour: one.length === 1 ? null : Number(one.slice(1)),
  }))

const START_MS = Date.UTC(2026, 4, 4, 8)
const isoOf = (hour: number): string => new Date(START_MS + hour * 3_600_000).toISOString()

/** As the agent writes the time of a prompt. */
function promptOf({ text, hour }: Said): string {
  if (hour === null) return query(text)
  const at = new Date(isoOf(hour))
  const date = at.toLocaleDateString('en-US', { timeZone: 'UTC', weekday: 'long', month: 'short', day: 'numeric' })
  const clock = at.toLocaleTimeString('en-US', { timeZone: 'UTC', hour: 'numeric', minute: '2-digit' })
  return `<timestamp>${date}, ${at.getUTCFullYear()}, ${clock} (UTC+0)</timestamp>\n${query(text)}`
}

let world: World
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
    const cli = new CliStore(cliFolder(world.cursorHome, cliRoot, id))
    const entries = all.map((one) =>
      cli.blob({ role: one.role, content: one.role === 'user' ? promptOf(one) : [said(one.text)] }),
    )
    const latestRootBlobId = cli.blob(encodeState({ entries }))
    cli.facts({ agentId: id, latestRootBlobId, name: 'New Agent', createdAt: START_MS })
    cli.close()
  },
  transcript: (at, all) => {
    const told = all.map((one) => line(one.role, said(one.role === 'user' ? promptOf(one) : one.text)))
    writeTranscript(world.cursorHome, 'yard-kiln', `times-transcript-${at}.jsonl`, lines(...told))
  },
}

/** Only the user's messages have times of their own in the stores of the command line and in transcripts. */
const cases = threads.flatMap(([name, , hours], at) =>
  Object.keys(writers).flatMap((kind) =>
    kind !== 'database' && saidIn(at).some(({ role, hour }) => role === 'assistant' && hour !== null)
      ? []
      : [{ name, kind, at, hours, id: `times-${kind}-${at}` }],
  ),
)

interface Message {
  readonly id: string
  readonly createdAt: string | null
  readonly createdAtSource: string | null
}

const timesOf = async (within: World, id: string): Promise<(string | null)[]> => {
  const { items } = await within.get<{ items: readonly Message[] }>(`/api/chats/${id}/messages`)
  return items.map(({ createdAt }) => createdAt)
}

/** What is told by time, of all chats. */
async function tellAll(within: World): Promise<unknown> {
  const times: unknown[] = []
  for (const { id } of cases) times.push([id, await timesOf(within, id)])
  const { series, byHour } = await within.get<{ series: unknown; byHour: unknown }>('/api/stats?tz=UTC')
  return { times, series, byHour }
}

beforeAll(async () => {
  world = await World.open()
  // The rest comes while the program runs. Then an answer is written again and again, as while an agent writes it.
  for (const count of [2, Infinity]) {
    store = world.home.global()
    for (const { kind, at } of cases) writers[kind]?.(at, saidIn(at).slice(0, count))
    await world.sync()
  }
  for (let turn = 0; turn < 3; turn += 1) {
    const text = `Said orchid0x1${' again'.repeat(turn)}`
    world.home.global().message('times-database-0', 'times-database-0-1', { type: 2, text })
    await world.sync()
  }
})

afterAll(() => world.remove())

test.each(cases)('$name: each message of the $kind has the time of its own turn', async ({ id, kind, hours }) => {
  // A transcript does not tell the time of its chat.
  const expected = hours.map((hour) => (hour === 0 && kind === 'transcript' ? null : isoOf(hour)))
  expect(await timesOf(world, id)).toEqual(expected)
})

test('an answer is found on its own day, and not on the day of the next question', async () => {
  for (const id of ['database', 'cli', 'transcript'].map((kind) => `times-${kind}-0`)) {
    const totals: number[] = []
    for (const day of ['2026-05-04', '2026-05-12']) {
      const path = `/api/search?q=orchid0x1&chat=${id}&from=${day}&to=${day}T23:59:00Z&tz=UTC`
      totals.push((await world.get<{ total: number }>(path)).total)
    }
    expect([id, totals]).toEqual([id, [1, 0]])
  }
})

test('messages that came while the program ran have the times that a new mirror gives them', async () => {
  const anew = await World.open({ home: world.home })
  await anew.sync()
  expect(await tellAll(world)).toEqual(await tellAll(anew))
  await anew.close()
})

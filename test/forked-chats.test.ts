import { afterAll, beforeAll, expect, test } from 'vitest'
import { CursorHome, headers, type Store } from './helpers/cursor.ts'
import { RunningDaemon } from './helpers/running-daemon.ts'
import { Cursordex } from './helpers/spawn-cursordex.ts'

interface Row {
  readonly id: string
  readonly minute: number
  readonly request?: string
  readonly input: number
  readonly output: number
}

/** The recorded answers of a chat. Each is the answer to a question of its own. */
interface Plan {
  readonly name: string
  /** What is read first comes last, so that a fork is read before the chat that it was copied from. */
  readonly chats: readonly { readonly id: string; readonly day: number; readonly rows: readonly Row[] }[]
  /** The recorded sums of each chat, input and output. */
  readonly counts: readonly (readonly [input: number, output: number])[]
  /** The same, without the first chat. */
  readonly withoutFirst: readonly (readonly [input: number, output: number])[]
}

const a1 = { id: 'a1', minute: 1, request: 'r1', input: 100, output: 10 }
const a2 = { id: 'a2', minute: 2, request: 'r2', input: 200, output: 20 }
const own = { id: 'a3', minute: 2000, request: 'r3', input: 7, output: 3 }
const last = { id: 'a4', minute: 4000, request: 'r4', input: 5, output: 2 }
const anew = (row: Row, as: string): Row => ({ ...row, id: `${row.id}-${as}` })
const withoutRequest = ({ id, minute, input, output }: Row): Row => ({ id, minute, input, output })

const plans: readonly Plan[] = [
  {
    name: 'a fork under the same ids',
    chats: [
      { id: 'same', day: 1, rows: [a1, a2] },
      { id: 'same-fork', day: 2, rows: [a1, own] },
    ],
    counts: [
      [300, 30],
      [7, 3],
    ],
    withoutFirst: [[107, 13]],
  },
  {
    name: 'a fork under the same ids, of rows without requests',
    chats: [
      { id: 'bare', day: 1, rows: [a1, a2].map(withoutRequest) },
      { id: 'bare-fork', day: 2, rows: [a1, own].map(withoutRequest) },
    ],
    counts: [
      [300, 30],
      [7, 3],
    ],
    withoutFirst: [[107, 13]],
  },
  {
    name: 'a fork under new ids',
    chats: [
      { id: 'new', day: 1, rows: [a1, a2] },
      { id: 'new-fork', day: 2, rows: [anew(a1, 'x'), anew(a2, 'x')] },
    ],
    counts: [
      [300, 30],
      [0, 0],
    ],
    withoutFirst: [[300, 30]],
  },
  {
    name: 'a fork of a fork',
    chats: [
      { id: 'twice', day: 1, rows: [a1, a2] },
      { id: 'twice-fork', day: 2, rows: [anew(a1, 'x'), own] },
      { id: 'twice-fork-fork', day: 3, rows: [anew(a1, 'x'), anew(own, 'y'), last] },
    ],
    counts: [
      [300, 30],
      [7, 3],
      [5, 2],
    ],
    withoutFirst: [
      [107, 13],
      [5, 2],
    ],
  },
  {
    name: 'chats with other requests, other times or no requests are no forks',
    chats: [
      { id: 'apart', day: 1, rows: [a1] },
      { id: 'apart-2', day: 2, rows: [{ ...anew(a1, 'x'), request: 'other' }] },
      { id: 'apart-3', day: 3, rows: [{ ...anew(a1, 'y'), minute: 3 }] },
      { id: 'apart-4', day: 4, rows: [withoutRequest(anew(a1, 'z'))] },
    ],
    counts: [
      [100, 10],
      [100, 10],
      [100, 10],
      [100, 10],
    ],
    withoutFirst: [
      [100, 10],
      [100, 10],
      [100, 10],
    ],
  },
]

const START_MS = Date.UTC(2025, 2, 1, 10)
const home = new CursorHome()
const daemons: RunningDaemon[] = []
let daemon: RunningDaemon
let store: Store

/** @param plan gives its rows ids and requests of their own */
function writeChat(plan: string, { id, day, rows }: Plan['chats'][number]): void {
  const ids = rows.flatMap((row, at) => [`${id}-q${at}`, `${plan}-${row.id}`])
  rows.forEach((row, at) => {
    const createdAt = new Date(START_MS + row.minute * 60_000).toISOString()
    const tokenCount = { inputTokens: row.input, outputTokens: row.output }
    const requestId = row.request === undefined ? {} : { requestId: `${plan}-${row.request}` }
    store.message(id, `${id}-q${at}`, { type: 1, text: 'Asked', createdAt })
    store.message(id, `${plan}-${row.id}`, { type: 2, text: 'Answered', createdAt, tokenCount, ...requestId })
  })
  store.chat(id, { createdAt: START_MS + (day - 1) * 86_400_000, fullConversationHeadersOnly: headers(ids) })
}

async function start(): Promise<RunningDaemon> {
  const started = await RunningDaemon.start({ userDirs: [home.userDir] })
  daemons.push(started)
  await started.waitReady()
  return started
}

interface Ledger {
  readonly rows: readonly { readonly key: string | null; readonly recorded: { input: number; output: number } | null }[]
  readonly totals: { readonly recorded: { input: number; output: number; messages: number } | null }
  readonly coverage: { readonly messages: number; readonly recorded: number; readonly unknown: number }
  readonly notes: readonly string[]
}

const ledger = (groupBy: string, more = ''): Promise<Ledger> =>
  daemon.get<Ledger>(`/api/tokens?groupBy=${groupBy}&tz=UTC&limit=1000${more}`)

const sumOf = (recorded: { input: number; output: number } | null | undefined) =>
  recorded === null || recorded === undefined ? null : [recorded.input, recorded.output]

const total = (counts: readonly Plan['counts'][number][]): number[] =>
  counts.reduce<number[]>(([input = 0, output = 0], one) => [input + one[0], output + one[1]], [0, 0])

type Chats = Plan['chats']

/** The recorded sums of chats, in the ledger and in the answers about each chat. */
async function countsOf(chats: Chats): Promise<readonly [ledger: unknown, details: unknown]> {
  const { rows } = await ledger('chat')
  const details = chats.map(async ({ id }) => {
    const { tokens } = await daemon.get<{ tokens: Ledger['totals'] }>(`/api/chats/${id}`)
    return sumOf(tokens.recorded)
  })
  return [chats.map(({ id }) => sumOf(rows.find(({ key }) => key === id)?.recorded)), await Promise.all(details)]
}

beforeAll(async () => {
  store = home.global()
  home.workspace(
    'wa',
    { folder: 'file:///yard/first' },
    plans.flatMap(({ chats }) => chats[0]?.id ?? []),
  )
  home.workspace(
    'wb',
    { folder: 'file:///yard/forks' },
    plans.flatMap(({ chats }) => chats.slice(1).map(({ id }) => id)),
  )
  daemon = await start()
  for (const { name, chats } of plans) {
    for (const chat of chats.toReversed()) {
      writeChat(name, chat)
      await daemon.post('/api/sync')
    }
  }
})

afterAll(async () => {
  for (const each of daemons) await each.stop()
  home.remove()
})

test.each(plans)('$name: its tokens count once, in the chat that began first', async ({ chats, counts }) => {
  expect(await countsOf(chats)).toEqual([counts, counts])
})

test('the totals, each day and each project count the tokens of forked chats once, and say so', async () => {
  const counts = plans.flatMap((plan) => plan.counts)
  const once = total(counts)
  for (const groupBy of ['chat', 'project', 'day', 'month', 'model']) {
    const { rows, totals, coverage, notes } = await ledger(groupBy)
    expect([groupBy, sumOf(totals.recorded)]).toEqual([groupBy, once])
    const sums = rows.flatMap(({ recorded }) => (recorded === null ? [] : [[recorded.input, recorded.output] as const]))
    expect([groupBy, total(sums)]).toEqual([groupBy, once])
    const answers = plans.flatMap(({ chats }) => chats.flatMap(({ rows: all }) => all)).length
    expect(coverage).toMatchObject({ messages: answers * 2, recorded: answers })
    expect(notes.join('\n')).toContain('7 recorded messages are copies in a forked chat.')
  }
  // The copies count in no project, also where the first chats are left out.
  const forks = total(plans.flatMap((plan) => plan.counts.slice(1)))
  expect(sumOf((await ledger('day', '&project=forks')).totals.recorded)).toEqual(forks)
})

test('the command line counts the tokens of forked chats once', async () => {
  const argv = ['tokens', '--group-by', 'chat', '--limit', '100', '--json', '--data-dir', daemon.dataDir]
  const { stdout, exitCode } = await new Cursordex(argv).ended
  expect(exitCode).toBe(0)
  expect(sumOf((JSON.parse(stdout) as Ledger).totals.recorded)).toEqual(total(plans.flatMap((plan) => plan.counts)))
})

test('a message of a fork still shows the tokens that were recorded for it', async () => {
  const { items } = await daemon.get<{ items: unknown[] }>('/api/chats/new-fork/messages')
  expect(items[1]).toMatchObject({ tokens: { input: 100, output: 10, source: 'recorded' } })
})

test('a new mirror, which reads the chats in another order, counts the same', async () => {
  const first = daemon
  daemon = await start()
  for (const { chats, counts } of plans) {
    expect(await countsOf(chats)).toEqual([counts, counts])
  }
  daemon = first
})

test('a first chat that Cursor deletes still has the tokens; when it is purged, its forks have them', async () => {
  const firsts = plans.flatMap(({ chats }) => chats[0]?.id ?? [])
  for (const id of firsts) store.deleteChat(id)
  await daemon.post('/api/sync', { full: true })
  expect(await daemon.get(`/api/chats/${firsts[0]}`)).toMatchObject({ deletedInCursor: true })
  for (const { chats, counts } of plans) expect(await countsOf(chats)).toEqual([counts, counts])
  await daemon.post('/api/purge', { chats: firsts, dryRun: false })
  for (const { chats, withoutFirst } of plans)
    expect(await countsOf(chats.slice(1))).toEqual([withoutFirst, withoutFirst])
  expect(sumOf((await ledger('day')).totals.recorded)).toEqual(total(plans.flatMap(({ withoutFirst }) => withoutFirst)))
})

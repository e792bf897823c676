import { hash } from 'node:crypto'
import { afterAll, afterEach, expect, test } from 'vitest'
import type * as asideThread from '../../../src/engine/aside-thread.ts'
import { runPasses } from '../../../src/engine/writer/run-passes.ts'
import { discoverSources } from '../../../src/indexer/discover.ts'
import type { Aside, AsideTask, AsideTaskName } from '../../../src/mirror/aside.ts'
import { CutAhead } from '../../../src/mirror/fulltext/cut-ahead.ts'
import type { Mirror } from '../../../src/mirror/open.ts'
import { CursorHome } from '../../helpers/cursor.ts'
import { Compiled } from '../../helpers/compiled.ts'
import { fillStore } from '../../helpers/fill-store.ts'
import { OpenMirror } from '../../helpers/open-mirror.ts'

/** Compiled, because a thread runs the built program. */
const compiled = await Compiled.module('engine/aside-thread')
const { AsideThread } = (await import(compiled.url)) as typeof asideThread
afterAll(() => compiled.remove())

const MESSAGES = 25
const NOW = Date.UTC(2026, 2, 1)
const home = new CursorHome()
const opened: OpenMirror[] = []
// The store stays open: a file without a WAL is read from a copy, which only one thread has.
fillStore(home.global(), { chats: 240, messagesPerChat: MESSAGES, textLength: 100 })
afterEach(() => {
  for (const each of opened.splice(0)) each.remove()
})
afterAll(() => home.remove())

/** Says which tasks gave how many values. `failsAfter`: from this value on, each task of this name fails. */
class WatchedAside implements Aside {
  readonly thread = new AsideThread()
  readonly values: Record<AsideTaskName, number> = { 'read-chats': 0, 'cut-terms': 0 }
  failsAfter: Partial<Record<AsideTaskName, number>> = {}

  wake(): void {
    this.thread.wake()
  }

  start<Value>(name: AsideTaskName, input: unknown): AsideTask<Value> | null {
    const task = this.thread.start<Value>(name, input)
    if (task === null) return null
    const take = (): ReturnType<typeof task.take> => {
      const taken = task.take()
      if (taken.kind !== 'value') return taken
      this.values[name] += 1
      return this.values[name] > (this.failsAfter[name] ?? Infinity) ? { kind: 'failed' } : taken
    }
    return { take, cancel: () => task.cancel() }
  }
}

/** The thread takes a moment to start. */
async function started({ thread }: WatchedAside): Promise<void> {
  while (thread.start('read-chats', null) === null) await new Promise((resolve) => setTimeout(resolve, 10))
}

/** Passes over the store until nothing waits. @param onStep may do something between two steps */
async function ingest(aside: WatchedAside | null, onStep: (mirror: Mirror, step: number) => void = () => undefined) {
  const mirror = new OpenMirror()
  opened.push(mirror)
  const places = { userDirs: [home.userDir], homes: [], disabledKinds: [] }
  const both = aside === null ? null : { thread: aside, cut: new CutAhead(aside, mirror.path) }
  if (aside !== null) await started(aside)
  let nowMs = NOW
  let step = 0
  for (const depth of ['reconcile', 'full'] as const) {
    const sources = discoverSources(places).map(({ id }) => ({ id, depth }))
    const order = { kind: 'run', sources, backlogMs: Infinity } as const
    const steps = runPasses(mirror.db, places, order, () => (nowMs += 100), { aside: both })
    while (steps.next().done !== true) onStep(mirror.db, (step += 1))
  }
  both?.cut.end()
  aside?.thread.rest()
  return contentOf(mirror.db)
}

/** Everything that was read and indexed, in order. */
function contentOf(db: Mirror) {
  db.exec(`create virtual table temp.places using fts5vocab (main, message_terms, instance)`)
  const all = (sql: string): unknown[] => db.prepare(sql).raw().all()
  return {
    messages: all(
      `select chats.id, m.id, m.role, m.position, m.created_at, m.content_hash, m.is_live, parts
       from messages m join chats on chats.num = chat join bodies on bodies.num = body order by 1, 2`,
    ),
    chats: all(`select id, title, project from chats order by id`),
    rows: all(`select * from source_rows order by key`),
    terms: all(`select term from terms order by term`),
    places: digest(
      `select chats.id, m.id, term, col, offset from temp.places join messages m on m.key = doc join chats on chats.num = chat
       order by 1, 2, 3, 4, 5`,
      db,
    ),
    waiting: all(`select key from unindexed union all select key from unlisted`),
  }
}

/** Many rows: their number and a hash. */
function digest(sql: string, db: Mirror): { readonly rows: number; readonly hash: string } {
  const rows = db.prepare(sql).raw().all()
  return { rows: rows.length, hash: hash('sha256', JSON.stringify(rows)) }
}

/** Cursor writes a new message, and rewrites an old one. */
function writeMeanwhile(): void {
  const store = home.global()
  const createdAt = '2026-02-01T00:00:00Z'
  store.message('chat-5', `m5-0`, { type: 1, text: 'rewritten walnut', createdAt })
  store.message('chat-6', 'new', { type: 1, text: 'new walnut', createdAt })
}

/** What one thread makes. */
const whole = await ingest(null)

test('a pass with a second thread makes the same mirror as one thread', async () => {
  const aside = new WatchedAside()
  const made = await ingest(aside)
  expect(aside.values['read-chats']).toBeGreaterThan(2)
  expect(aside.values['cut-terms']).toBeGreaterThan(0)
  expect(made.messages).toHaveLength(240 * MESSAGES)
  expect(made).toEqual(whole)
})

test('a pass that ends early does not block the next one', async () => {
  const aside = new WatchedAside()
  const mirror = new OpenMirror()
  opened.push(mirror)
  const places = { userDirs: [home.userDir], homes: [], disabledKinds: [] }
  const both = { thread: aside, cut: new CutAhead(aside, mirror.path) }
  await started(aside)
  const sources = discoverSources(places).map(({ id }) => ({ id, depth: 'reconcile' }) as const)
  const passes = () =>
    runPasses(mirror.db, places, { kind: 'run', sources, backlogMs: Infinity }, Date.now, { aside: both })
  const early = passes()
  // As after an error of the disk: groups that were read ahead are never taken.
  while (aside.values['read-chats'] === 0) early.next()
  early.return(undefined as never)
  const next = passes()
  const endsAtMs = Date.now() + 30_000
  while (next.next().done !== true) expect(Date.now()).toBeLessThan(endsAtMs)
  both.cut.end()
  aside.thread.rest()
  expect(contentOf(mirror.db).messages).toHaveLength(240 * MESSAGES)
})

test.each([
  ['reading', { 'read-chats': 1 }],
  ['cutting', { 'cut-terms': 0 }],
])('if %s fails on the second thread, the first does it', async (_, failsAfter) => {
  const aside = new WatchedAside()
  aside.failsAfter = failsAfter
  expect(await ingest(aside)).toEqual(whole)
})

test('terms of a message that left the backlog are not indexed', async () => {
  const aside = new WatchedAside()
  let isChanged = false
  const made = await ingest(aside, (mirror) => {
    if (isChanged || aside.values['read-chats'] === 0) return
    const waiting = mirror.prepare(`select count(*) from unindexed`).pluck().get() as number
    if (waiting < 4000) return
    isChanged = true
    // The message leaves the backlog without the writer's knowledge, as after a purge.
    mirror.exec(`delete from unindexed where key = (select max(key) from unindexed)`)
  })
  expect(isChanged).toBe(true)
  expect(made.messages).toEqual(whole.messages)
  expect(made.places.rows).toBeLessThan(whole.places.rows)
})

test('what Cursor writes during the pass is read, and nothing older replaces it', async () => {
  const aside = new WatchedAside()
  const made = await ingest(aside, (_, step) => {
    if (step === 14) writeMeanwhile()
  })
  expect(JSON.stringify(made.messages)).toContain('rewritten walnut')
  expect(JSON.stringify(made.messages)).toContain('new walnut')
  // The list of terms may contain words of the former text.
  expect({ ...made, terms: null }).toEqual({ ...(await ingest(null)), terms: null })
})

import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp } from '../../src/api/http/app.ts'
import { answerQuestion } from '../../src/api/questions.ts'
import { Histories } from '../../src/git/histories.ts'
import { openReader } from '../../src/mirror/open.ts'
import type { PurgeScope } from '../../src/mirror/purge/scope.ts'
import { SECRET_FILE } from '../../src/mirror/purge/tombstones.ts'
import { asChatId } from '../../src/model/ids.ts'
import { CursorHome } from '../helpers/cursor.ts'
import { writeAllEras } from '../helpers/eras/all-eras.ts'
import { archivesHere } from '../helpers/archives-here.ts'
import { estimateAll } from '../helpers/estimate-all.ts'
import { Indexer } from '../helpers/in-process.ts'
import { PurgeHere } from '../helpers/purge-world.ts'
import { liveOf } from '../system/hostile/values/still-world.ts'

const HOST = '127.0.0.1:4870'
const home = new CursorHome()
const cursorHome = join(home.root, '.cursor')
const indexers: Indexer[] = []

beforeAll(() => writeAllEras(home, cursorHome))
afterAll(() => {
  for (const indexer of indexers) indexer.remove()
  home.remove()
})

function newIndexer(): Indexer {
  const indexer = new Indexer(home.userDir)
  indexer.homes = [cursorHome]
  indexer.now = () => Date.UTC(2026, 10, 21)
  indexers.push(indexer)
  return indexer
}

type Answers = Readonly<Record<string, unknown>>

interface Listed {
  readonly items: readonly { readonly id: string }[]
}

/** All answers about chats, messages, words and numbers. */
async function allAnswers(indexer: Indexer): Promise<Answers> {
  const reader = openReader(indexer.path)
  const app = createApp({
    version: '1',
    timeZone: 'UTC',
    access: { token: null, tokenRequired: false, allowedHosts: () => new Set([HOST]) },
    mirror: () => reader,
    now: indexer.now,
    ask: async (question) => answerQuestion(reader, question, 60_000),
    live: () => liveOf(indexer.path),
    histories: new Histories({}),
    sync: () => Promise.reject(new Error('nobody asks')),
    archives: archivesHere(indexer.folder, indexer.path),
    subscribe: () => () => undefined,
  })
  const answers: Record<string, unknown> = {}
  const ask = async (path: string): Promise<unknown> => {
    const response = await app.request(path, { headers: { host: HOST } })
    const { tookMs: _, ...answer } = (await response.json()) as { tookMs?: number }
    answers[path] = unordered(answer)
    return answer
  }
  const chats = (await ask('/api/chats?limit=200&subagents=true&includeEmpty=true')) as Listed
  for (const { id } of chats.items) {
    await ask(`/api/chats/${encodeURIComponent(id)}`)
    await ask(`/api/chats/${encodeURIComponent(id)}/messages?limit=200&includeOrphans=true`)
  }
  for (const q of ['the', 'said in', 'told by both', 'e*', '*es*', 'tool:read_file', 'has:error', 'zzz', 'answered'])
    await ask(`/api/search?q=${encodeURIComponent(q)}&limit=200&facets=project,role,part,tool,model,machine,month`)
  for (const path of ['stats', 'tokens?groupBy=chat', 'tokens?groupBy=day', 'projects?limit=200', 'losses'])
    await ask(`/api/${path}`)
  reader.close()
  return answers
}

/** A mirror that had the tombstones from the beginning. */
function neverHeld(purged: Indexer): Indexer {
  const indexer = newIndexer()
  const secret = join(purged.folder, SECRET_FILE)
  if (existsSync(secret)) cpSync(secret, join(indexer.folder, SECRET_FILE))
  indexer.mirror.prepare('attach database ? as before').run(purged.path)
  indexer.mirror.exec(`
    insert into tombstones select * from before.tombstones;
    insert into purge_salt select * from before.purge_salt;
    detach database before;
  `)
  indexer.pass()
  estimateAll(indexer.mirror)
  return indexer
}

/** Items of the same time are in the order in which a mirror read them, which may differ. */
function unordered(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(unordered).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, unordered(each)]))
}

type NamedScope = readonly [name: string, scope: (indexer: Indexer) => Partial<PurgeScope>]

const everyFourth = (indexer: Indexer): string[] =>
  indexer.mirror.prepare<[], string>('select id from chats where num % 4 = 1').pluck().all()

const scopes: readonly NamedScope[] = [
  ['a text in two stores', () => ({ match: 'told by BOTH' })],
  ['a word in many messages', () => ({ match: 'said in' })],
  ['every fourth chat', (indexer) => ({ chatIds: everyFourth(indexer).map(asChatId) })],
  [
    'the earlier half of the messages',
    ({ mirror }) => ({
      beforeMs: mirror
        .prepare<[], number>(
          `select created_at from messages where created_at is not null order by created_at
           limit 1 offset (select count(*) / 2 from messages where created_at is not null)`,
        )
        .pluck()
        .get() as number,
    }),
  ],
  [
    'the largest project',
    ({ mirror }) => ({
      projectUris: mirror
        .prepare<[], string>(
          `select uri from projects join chats on chats.project = projects.num group by uri order by count(*) desc limit 1`,
        )
        .pluck()
        .all(),
    }),
  ],
]

test.each(scopes)('after a purge of %s, everything else is as if it had never been there', async (_, scope) => {
  const purged = newIndexer()
  purged.pass()
  estimateAll(purged.mirror)
  const given = scope(purged)
  purged.mirror.close()
  const report = await new PurgeHere(purged.folder).purge(given)
  expect(report.messages).toBeGreaterThan(0)
  expect(report.check?.found ?? []).toEqual([])
  purged.restart()
  const after = await allAnswers(purged)
  purged.pass('full')
  expect(await allAnswers(purged)).toEqual(after)
  expectSame(after, await allAnswers(neverHeld(purged)))
})

function expectSame(after: Answers, expected: Answers): void {
  expect(Object.keys(after).sort()).toEqual(Object.keys(expected).sort())
  for (const [path, answer] of Object.entries(expected)) expect([path, after[path]]).toEqual([path, answer])
}

test('after a purge of a chat, everything else is as if Cursor had never had it', async () => {
  const id = 'map-1'
  const purged = newIndexer()
  purged.pass()
  estimateAll(purged.mirror)
  purged.mirror.close()
  expect(await new PurgeHere(purged.folder).purge({ chatIds: [asChatId(id)] })).toMatchObject({ chatCount: 1 })
  purged.restart()
  home.global().delete(`composerData:${id}`)
  const never = newIndexer()
  never.pass()
  estimateAll(never.mirror)
  expectSame(await allAnswers(purged), await allAnswers(never))
})

import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CursorHome } from '../../helpers/cursor.ts'
import { TrackingStore } from '../../helpers/eras/tracking.ts'
import { line, lines, query, said, writeTranscript } from '../../helpers/eras/transcripts.ts'
import { Indexer } from '../../helpers/in-process.ts'
import { spoilPage } from '../../helpers/spoil-page.ts'

const T0 = Date.UTC(2026, 3, 1, 10)
const SHA = 'ab'.repeat(20)
const HUGE = 'x'.repeat(3_000_000)

let home: CursorHome
let indexer: Indexer

/**
 * There is a chat beside the file, which is read whatever happens to the file; it gets its model from the file if
 * possible.
 */
beforeEach(() => {
  home = new CursorHome()
  indexer = new Indexer(home.userDir)
  indexer.homes = [join(home.root, 'cursor')]
  writeTranscript(join(home.root, 'cursor'), 'w', 'a.jsonl', lines(line('user', said(query('neighbour')))))
})
afterEach(() => {
  indexer.remove()
  home.remove()
})

function sound(): TrackingStore {
  const store = new TrackingStore(join(home.root, 'cursor'))
  store.record({ conversationId: 'a', timestamp: T0, model: 'm' })
  store.score(SHA, 3)
  return store
}

const rowOf = (more: object) => (store: TrackingStore) =>
  store.record({ conversationId: 'b', timestamp: T0, model: 'n', ...more })
const sql = (text: string) => (store: TrackingStore) => store.db.exec(text)

interface Harm {
  /** How a sound store is damaged. */
  readonly harm: (store: TrackingStore) => unknown
  /** How its file is damaged, after it was closed. */
  readonly harmFile?: (path: string) => unknown
  readonly state?: string
  readonly issues: readonly string[]
  /** Whether the chat beside it has its model. */
  readonly isTold: boolean
}

const none = (): void => undefined
const HASH_ISSUE = ['ai_code_hashes unknown-shape']
const fill = (store: TrackingStore): void =>
  store.db.transaction(() => {
    for (let n = 0; n < 2000; n += 1) store.record({ conversationId: 'a', timestamp: T0 + n, model: 'm' })
  })()

const harms: Readonly<Record<string, Harm>> = {
  'an empty file': { harm: none, harmFile: (path) => truncateSync(path), issues: [], isTold: false },
  'a file that is no database': {
    harm: none,
    harmFile: (path) => writeFileSync(path, 'this is no database'),
    state: 'corrupt',
    issues: [],
    isTold: false,
  },
  'a file that is cut off in its head': {
    harm: none,
    harmFile: (path) => truncateSync(path, 60),
    state: 'corrupt',
    issues: [],
    isTold: false,
  },
  'a file that is cut off in the middle': {
    harm: fill,
    harmFile: (path) => truncateSync(path, 64 * 4096),
    state: 'corrupt',
    issues: [],
    isTold: false,
  },
  'a damaged page': {
    harm: fill,
    harmFile: (path) => spoilPage(path, 'table-leaf', -3),
    issues: ['ai_code_hashes unreadable-page'],
    isTold: true,
  },
  'a folder in its place': {
    harm: none,
    harmFile: (path) => {
      rmSync(path)
      mkdirSync(path)
    },
    state: 'unreadable',
    issues: [],
    isTold: false,
  },
  'a schema of noise': {
    harm: none,
    harmFile: (path) => writeFileSync(path, readFileSync(path).fill(0xff, 100, 4096)),
    state: 'corrupt',
    issues: [],
    isTold: false,
  },
  'no table at all': {
    harm: sql('drop table ai_code_hashes; drop table scored_commits'),
    issues: [],
    isTold: false,
  },
  'no table of commits': { harm: sql('drop table scored_commits'), issues: [], isTold: true },
  'no model column': { harm: sql('alter table ai_code_hashes drop column model'), issues: [], isTold: false },
  'no conversation column': {
    harm: sql('alter table ai_code_hashes drop column conversationId'),
    issues: [],
    isTold: false,
  },
  'no time column': {
    harm: sql('alter table ai_code_hashes drop column timestamp'),
    issues: HASH_ISSUE,
    isTold: false,
  },
  'a table without rowids': {
    harm: sql(`drop table ai_code_hashes;
      create table ai_code_hashes (hash text primary key, conversationId text, timestamp, model) without rowid`),
    issues: [],
    isTold: false,
  },
  'a view in place of the table': {
    harm: sql(`alter table ai_code_hashes rename to other; create view ai_code_hashes as select * from other`),
    issues: [],
    isTold: false,
  },
  'bytes for an id': { harm: rowOf({ conversationId: Buffer.from([0xff, 0]) }), issues: HASH_ISSUE, isTold: true },
  'an id of three megabytes': { harm: rowOf({ conversationId: HUGE }), issues: HASH_ISSUE, isTold: true },
  'words for a time': { harm: rowOf({ timestamp: 'soon', createdAt: 'later' }), issues: HASH_ISSUE, isTold: true },
  'a time before Cursor, and one after all': {
    harm: (store) => {
      rowOf({ timestamp: 12, createdAt: -1 })(store)
      rowOf({ timestamp: 9e15, createdAt: 1e300 })(store)
    },
    issues: HASH_ISSUE,
    isTold: true,
  },
  'a model of three megabytes, and one that is a number': {
    harm: (store) => {
      rowOf({ model: HUGE })(store)
      rowOf({ model: 7 })(store)
    },
    issues: [],
    isTold: true,
  },
  'a name of a file of three megabytes': {
    harm: (store) => store.db.prepare('update ai_code_hashes set fileName = ?').run(HUGE),
    issues: [],
    isTold: true,
  },
  'commits that are none': {
    harm: (store) => {
      for (const sha of ['', 'HEAD', HUGE, Buffer.from('ab'), 12]) store.score(sha, 'many')
    },
    issues: ['scored_commits unknown-shape'],
    isTold: true,
  },
  'rows numbered from the least to the greatest': {
    harm: (store) => {
      rowOf({})(store)
      store.db.exec(`update ai_code_hashes set rowid = 9223372036854775807 where model = 'n'`)
      rowOf({ conversationId: 'c' })(store)
      store.db.exec(`update ai_code_hashes set rowid = -9007199254740000 where conversationId = 'c'`)
    },
    issues: [],
    isTold: true,
  },
}

test.each(Object.entries(harms))('%s is one issue at most, and costs nothing else', (_, harm) => {
  const store = sound()
  harm.harm(store)
  store.close()
  harm.harmFile?.(store.path)
  let nowMs = T0
  indexer.now = () => (nowMs += 120_000)
  for (const depth of ['nudge', 'count', 'full'] as const) {
    const { ends } = indexer.pass(depth)
    expect(ends).toContainEqual(expect.objectContaining({ kind: 'tracking', state: harm.state ?? 'ok' }))
    expect(ends).toContainEqual(expect.objectContaining({ kind: 'transcripts', state: 'ok' }))
    const reported = indexer.mirror.prepare<[], string>(`select key || ' ' || reason from row_issues`).pluck().all()
    expect(reported).toEqual(harm.issues)
    expect(indexer.mirror.prepare('select id, model from chats').all()).toEqual([
      { id: 'a', model: harm.isTold ? 'm' : null },
    ])
  }
})

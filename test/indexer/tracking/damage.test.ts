import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { casesBeside, writtenOut } from '../../helpers/cases.ts'
import { TrackingStore, type Recorded } from '../../helpers/eras/tracking.ts'
import { line, lines, query, said, writeTranscript } from '../../helpers/eras/transcripts.ts'
import { openIndexed, type Indexer } from '../../helpers/in-process.ts'
import { spoilPage } from '../../helpers/spoil-page.ts'

const cases = casesBeside(import.meta.url)

const T0 = Date.UTC(2026, 3, 1, 10)
const SHA = 'ab'.repeat(20)

let cursorHome: string
let indexer: Indexer

/**
 * There is a chat beside the file, which is read whatever happens to the file; it gets its model from the file if
 * possible.
 */
beforeEach(() => {
  const opened = openIndexed()
  indexer = opened.indexer
  cursorHome = join(opened.home.root, '.cursor')
  writeTranscript(cursorHome, 'w', 'a.jsonl', lines(line('user', said(query('neighbour')))))
})

function sound(): TrackingStore {
  const store = new TrackingStore(cursorHome)
  store.record({ conversationId: 'a', timestamp: T0, model: 'm' })
  store.score(SHA, 3)
  return store
}

interface Harm {
  /** How a sound store is damaged. */
  readonly harm?: (store: TrackingStore) => unknown
  /** How its file is damaged, after it was closed. */
  readonly harmFile?: (path: string) => unknown
  readonly state?: string
  readonly issues?: readonly string[]
  /** Whether the chat beside it has its model; true by default. */
  readonly isTold?: boolean
}

const fill = (store: TrackingStore): void =>
  store.db.transaction(() => {
    for (let n = 0; n < 2000; n += 1) store.record({ conversationId: 'a', timestamp: T0 + n, model: 'm' })
  })()
const corrupt = { state: 'corrupt', isTold: false }

const files: Readonly<Record<string, Harm>> = {
  'an empty file': { harmFile: (path) => truncateSync(path), isTold: false },
  'a file that is no database': { harmFile: (path) => writeFileSync(path, 'this is no database'), ...corrupt },
  'a file that is cut off in its head': { harmFile: (path) => truncateSync(path, 60), ...corrupt },
  'a file that is cut off in the middle': { harm: fill, harmFile: (path) => truncateSync(path, 64 * 4096), ...corrupt },
  'a damaged page': {
    harm: fill,
    harmFile: (path) => spoilPage(path, 'table-leaf', -3),
    issues: ['ai_code_hashes unreadable-page'],
  },
  'a folder in its place': {
    harmFile: (path) => {
      rmSync(path)
      mkdirSync(path)
    },
    state: 'unreadable',
    isTold: false,
  },
  'a schema of noise': {
    harmFile: (path) => writeFileSync(path, readFileSync(path).fill(0xff, 100, 4096)),
    ...corrupt,
  },
}

const tables = Object.fromEntries(
  cases<[string, string, string[], boolean]>('tables').map(([name, sql, issues, isTold]) => [
    name,
    { harm: ({ db }: TrackingStore) => db.exec(sql), issues, isTold },
  ]),
)

const rows = Object.fromEntries(
  cases<[string, Partial<Recorded>[], string[]]>('rows').map(([name, recorded, issues]) => [
    name,
    {
      harm: (store: TrackingStore) => {
        for (const more of writtenOut(recorded))
          store.record({ conversationId: 'b', timestamp: T0, model: 'n', ...more })
      },
      issues,
    },
  ]),
)

const harms: Readonly<Record<string, Harm>> = {
  ...files,
  ...tables,
  ...rows,
  'bytes for an id': {
    harm: (store) => store.record({ conversationId: Buffer.from([0xff, 0]), timestamp: T0, model: 'n' }),
    issues: ['ai_code_hashes unknown-shape'],
  },
  'commits that are none': {
    harm: (store) => {
      for (const sha of ['', 'HEAD', 'x'.repeat(3_000_000), Buffer.from('ab'), 12]) store.score(sha, 'many')
    },
    issues: ['scored_commits unknown-shape'],
  },
}

test.each(Object.entries(harms))('%s is one issue at most, and costs nothing else', (_, damage) => {
  const store = sound()
  damage.harm?.(store)
  store.close()
  damage.harmFile?.(store.path)
  let nowMs = T0
  indexer.now = () => (nowMs += 120_000)
  for (const depth of ['nudge', 'count', 'full'] as const) {
    const { ends } = indexer.pass(depth)
    expect(ends).toContainEqual(expect.objectContaining({ kind: 'tracking', state: damage.state ?? 'ok' }))
    expect(ends).toContainEqual(expect.objectContaining({ kind: 'transcripts', state: 'ok' }))
    expect(indexer.issues).toEqual(damage.issues ?? [])
    expect(indexer.chats).toMatchObject([{ id: 'a', model: (damage.isTold ?? true) ? 'm' : null }])
  }
})

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { discoverSources, formats, type Places, type StoreFormat } from '../../src/indexer/discover.ts'
import type { Source } from '../../src/indexer/source.ts'
import { CursorHome } from '../helpers/cursor.ts'
import { line, lines, said, writeTranscript } from '../helpers/eras/transcripts.ts'
import { Indexer } from '../helpers/in-process.ts'
import { diarySources } from './made-up/index.ts'

let home: CursorHome
let indexer: Indexer
let places: Places
/** The line that a new format adds to `discover.ts`. */
let added: readonly StoreFormat[]

beforeEach(() => {
  home = new CursorHome()
  indexer = new Indexer(home.userDir)
  const cursor = join(home.root, '.cursor')
  places = { userDirs: [home.userDir], homes: [cursor], disabledKinds: [] }
  home.global().message('c', 'm', { type: 1, text: 'plant an appletree' })
  home.workspace('ws1', { folder: 'file:///w/orchard' })
  writeTranscript(cursor, 'w-orchard', 't.jsonl', lines(line('user', said('plant a peartree'))))
  mkdirSync(join(home.root, 'diaries'))
  writeFileSync(join(home.root, 'diaries', 'monday'), 'diary\n> plant a figtree')
  added = [...formats, { sources: () => diarySources(home.root) }]
})
afterEach(() => {
  indexer.remove()
  home.remove()
})

const kindsOf = (sources: readonly Source[]): string[] => sources.map(({ kind }) => kind)
const known = ['composer-kv', 'agent-blobs', 'pasted-text', 'global-items', 'workspace-items', 'transcripts']

test('one line is enough to add a new format to the others', () => {
  expect(kindsOf(discoverSources(places))).toEqual(known)
  expect(kindsOf(discoverSources(places, added))).toEqual([...known, 'diaries'])
})

test('a new format can be switched off by its kind', () => {
  expect(kindsOf(discoverSources({ ...places, disabledKinds: ['diaries'] }, added))).toEqual(known)
  expect(kindsOf(discoverSources({ ...places, disabledKinds: ['transcripts'] }, added))).not.toContain('transcripts')
})

test('chats of a new format are in the mirror beside the others', () => {
  for (const source of discoverSources(places, added)) {
    const pass = source.pass(indexer.mirror, { depth: 'nudge', now: Date.now })
    let next = pass.next()
    while (next.done !== true) next = pass.next()
    expect(next.value).toMatchObject({ state: 'ok' })
  }
  const chats = indexer.mirror.prepare(
    'select chats.id, kind from chats join sources on sources.num = source order by kind',
  )
  expect(indexer.mirror.prepare(`select count(*) from chats`).pluck().get()).toBe(3)
  expect(chats.all()).toEqual([
    { id: 'c', kind: 'composer-kv' },
    { id: 'monday', kind: 'diaries' },
    { id: 't', kind: 'transcripts' },
  ])
})

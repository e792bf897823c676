import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Manifest } from '../../../src/archive/manifest.ts'
import { objectPath } from '../../../src/archive/names.ts'
import { readObject } from '../../../src/api/archives/object-files.ts'
import { ArchiveFolder } from '../../helpers/archive-folder.ts'
import { harms, objectIn, onDamagedCopy, runIn } from '../../helpers/harms.ts'
import { seedMirror, type SeededMirror } from '../../helpers/seed-mirror.ts'
import { Chance } from '../../fuzz/chance.ts'

const CHATS = 6
/** Damages of each kind: more than a hundred in all. */
const TIMES = 13

let whole: ArchiveFolder
let mirror: SeededMirror
let manifest: Manifest

beforeAll(async () => {
  whole = new ArchiveFolder()
  mirror = seedMirror()
  for (let at = 0; at < CHATS; at += 1) {
    const chat = mirror.addChat({ id: `chat-${at}` })
    for (let message = 0; message < 4; message += 1) mirror.addMessage(chat, { id: `${at}-${message}` })
  }
  manifest = (await whole.run(mirror.reader)).manifest
})
afterAll(() => {
  whole.remove()
  mirror.dispose()
})

test.each(harms)(
  '%s: noticed, and the chats that it affects are named',
  async (kind, harm) => {
    for (let time = 0; time < TIMES; time += 1) {
      const chance = new Chance(kind.length * 1000 + time)
      await onDamagedCopy({ dir: whole.dir, manifest }, harm, chance, (damaged, { chats, runs }) => {
        const verdict = damaged.verify()
        expect([time, verdict.ok]).toEqual([time, false])
        expect([time, [...verdict.damaged].sort()]).toEqual([time, [...chats].sort()])
        expect([time, verdict.damagedRuns.map(({ name }) => name)]).toEqual([time, runs])
        const left = manifest.chats.filter(({ id }) => !chats.includes(id))
        for (const { object } of left) expect(readObject(damaged.dir, object).kind).toBe('sound')
      })
    }
  },
  120_000,
)

test.skipIf(process.platform === 'win32')('a pipe in place of an object does not block', () => {
  const damaged = new ArchiveFolder()
  cpSync(whole.dir, damaged.dir, { recursive: true })
  const [chat] = manifest.chats
  if (chat === undefined) throw new Error('there is no chat')
  rmSync(objectIn(damaged.dir, chat))
  execFileSync('mkfifo', [objectIn(damaged.dir, chat)])
  expect(damaged.verify()).toMatchObject({ ok: false, damaged: [chat.id] })
  damaged.remove()
})

test('a damaged object is reported with its chat even if the manifest is damaged too', () => {
  const damaged = new ArchiveFolder()
  cpSync(whole.dir, damaged.dir, { recursive: true })
  const [chat, other] = manifest.chats
  if (chat === undefined || other === undefined) throw new Error('there are no chats')
  writeFileSync(runIn({ dir: damaged.dir, manifest }), 'nothing')
  truncateSync(objectIn(damaged.dir, chat), chat.bytes - 4)
  const verdict = damaged.verify()
  expect(verdict).toMatchObject({ ok: false, damaged: [chat.id], soundRuns: [], unexpected: [] })
  expect(verdict.leftovers).toContain(objectPath(other.object))
  damaged.remove()
})

test('files that the operating system leaves in folders are no damage', () => {
  const seen = new ArchiveFolder()
  cpSync(whole.dir, seen.dir, { recursive: true })
  for (const path of ['.DS_Store', 'runs/._DS_Store', 'runs/Thumbs.db', 'objects/desktop.ini']) {
    writeFileSync(join(seen.dir, path), 'how its window stood')
  }
  expect(seen.verify()).toMatchObject({ ok: true, unexpected: [] })
  mkdirSync(join(seen.dir, 'objects', '._folder'))
  expect(seen.verify()).toMatchObject({ ok: false, unexpected: ['objects/._folder'] })
  seen.remove()
})

test('a share reads some of the objects and all manifests', () => {
  // Which ones is not known, and all six of them are about never.
  const some = whole.verify(0.05)
  expect(some.ok).toBe(true)
  expect(some.checked).toBeLessThan(CHATS + 1)
  const damaged = new ArchiveFolder()
  cpSync(whole.dir, damaged.dir, { recursive: true })
  copyFileSync(runIn({ dir: whole.dir, manifest }), join(damaged.dir, 'runs', '20200101T000000Z-manual.json'))
  expect(damaged.verify(0.001).damagedRuns.map(({ name }) => name)).toEqual(['20200101T000000Z-manual'])
  damaged.remove()
})

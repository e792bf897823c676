import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sealManifest, type Manifest } from '../../../src/archive/manifest.ts'
import { objectPath, runPath } from '../../../src/archive/names.ts'
import { readObject } from '../../../src/api/archives/object-files.ts'
import { ArchiveFolder } from '../../helpers/archive-folder.ts'
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

interface Damage {
  /** Chats that are damaged by it; null where a manifest is, or something is there that should not be. */
  readonly chats: readonly string[]
  readonly runs: readonly string[]
}

type Harm = (dir: string, chance: Chance) => Damage

function pick<Item>(chance: Chance, items: readonly Item[]): Item {
  const item = chance.of(items)
  if (item === undefined) throw new Error('there is nothing to choose from')
  return item
}

function two(chance: Chance): [Manifest['chats'][number], Manifest['chats'][number]] {
  const one = pick(chance, entries())
  return [
    one,
    pick(
      chance,
      entries().filter((chat) => chat !== one),
    ),
  ]
}

const none = { chats: [], runs: [] }
const entries = (): Manifest['chats'] => manifest.chats
const ofChat = (chat: Manifest['chats'][number]): Damage => ({ chats: [chat.id], runs: [manifest.name] })
const ofRun = (): Damage => ({ chats: [], runs: [manifest.name] })
const objectIn = (dir: string, { object }: Manifest['chats'][number]): string => join(dir, objectPath(object))
const runIn = (dir: string): string => join(dir, runPath(manifest.name))

function flip(path: string, chance: Chance): void {
  const bytes = readFileSync(path)
  const at = chance.below(bytes.length)
  bytes[at] = (bytes[at] ?? 0) ^ (1 << chance.below(8))
  writeFileSync(path, bytes)
}

/** Puts a file in the place that its bytes give it, as only somebody who means it would. */
function plant(dir: string, bytes: Buffer): string {
  const hash = createHash('sha256').update(bytes).digest('hex')
  mkdirSync(dirname(join(dir, objectPath(hash))), { recursive: true })
  writeFileSync(join(dir, objectPath(hash)), bytes)
  return hash
}

const sealAgain = (dir: string, chats: Manifest['chats']): void =>
  writeFileSync(runIn(dir), sealManifest({ ...manifest, chats }))

const harms: Readonly<Record<string, Harm>> = {
  'a bit of an object flipped': (dir, chance) => {
    const chat = pick(chance, entries())
    flip(objectIn(dir, chat), chance)
    return ofChat(chat)
  },
  'a bit of a manifest flipped': (dir, chance) => (flip(runIn(dir), chance), ofRun()),
  'an object cut off': (dir, chance) => {
    const chat = pick(chance, entries())
    truncateSync(objectIn(dir, chat), chance.below(chat.bytes))
    return ofChat(chat)
  },
  'a manifest cut off': (dir, chance) => {
    truncateSync(runIn(dir), chance.below(readFileSync(runIn(dir)).length))
    return ofRun()
  },
  'an object removed': (dir, chance) => {
    const chat = pick(chance, entries())
    rmSync(objectIn(dir, chat))
    return ofChat(chat)
  },
  'two objects swapped': (dir, chance) => {
    const [one, other] = two(chance)
    renameSync(objectIn(dir, one), join(dir, 'swap'))
    renameSync(objectIn(dir, other), objectIn(dir, one))
    renameSync(join(dir, 'swap'), objectIn(dir, other))
    return { chats: [one.id, other.id], runs: [manifest.name] }
  },
  'a manifest that gives one chat the object of another': (dir, chance) => {
    const [one, other] = two(chance)
    const { object, content, bytes, messages } = other
    sealAgain(
      dir,
      entries().map((chat) => (chat === one ? { ...chat, object, content, bytes, messages } : chat)),
    )
    return ofChat(one)
  },
  'a manifest that leaves out a message': (dir, chance) => {
    const chat = pick(chance, entries())
    const fewer = entries().map((each) => (each === chat ? { ...each, messages: each.messages.slice(1) } : each))
    writeFileSync(runIn(dir), sealManifest({ ...manifest, messageCount: manifest.messageCount - 1, chats: fewer }))
    return ofChat(chat)
  },
  'an object of zeros that unpacks to very much': (dir, chance) => {
    const chat = pick(chance, entries())
    const object = plant(dir, gzipSync(Buffer.alloc(40 * 1024 * 1024)))
    rmSync(objectIn(dir, chat))
    sealAgain(
      dir,
      entries().map((each) => (each === chat ? { ...each, object } : each)),
    )
    return ofChat(chat)
  },
  'a file that does not belong there': (dir, chance) => {
    const names = [
      'x',
      'runs/x.json',
      'objects/x',
      'objects/zz/x',
      'runs/..json',
      `objects/aa/${'b'.repeat(64)}.jsonl.gz`,
    ]
    const path = join(dir, pick(chance, names))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, 'planted')
    return none
  },
  'a link in place of something': (dir, chance) => {
    const chat = pick(chance, entries())
    const path = chance.below(2) === 0 ? objectIn(dir, chat) : dirname(objectIn(dir, chat))
    const hidden = `${dir}.hidden`
    rmSync(hidden, { recursive: true, force: true })
    renameSync(path, hidden)
    symlinkSync(hidden, path)
    const inFolder = entries().filter((each) => dirname(objectIn(dir, each)) === path || each === chat)
    return { chats: inFolder.map(({ id }) => id), runs: [manifest.name] }
  },
}

// Windows asks for rights to make a link.
const kinds = Object.entries(harms).filter(([kind]) => process.platform !== 'win32' || !kind.startsWith('a link'))

test.each(kinds)(
  '%s: noticed, and the chats that it affects are named',
  (kind, harm) => {
    for (let time = 0; time < TIMES; time += 1) {
      const damaged = new ArchiveFolder()
      try {
        cpSync(whole.dir, damaged.dir, { recursive: true })
        const { chats, runs } = harm(damaged.dir, new Chance(kind.length * 1000 + time))
        const verdict = damaged.verify()
        expect([time, verdict.ok]).toEqual([time, false])
        expect([time, [...verdict.damaged].sort()]).toEqual([time, [...chats].sort()])
        expect([time, verdict.damagedRuns.map(({ name }) => name)]).toEqual([time, runs])
        const left = entries().filter(({ id }) => !chats.includes(id))
        for (const { object } of left) expect(readObject(damaged.dir, object).kind).toBe('sound')
      } finally {
        damaged.remove()
        rmSync(`${damaged.dir}.hidden`, { recursive: true, force: true })
      }
    }
  },
  120_000,
)

test.skipIf(process.platform === 'win32')('a pipe in place of an object holds nothing up', () => {
  const damaged = new ArchiveFolder()
  cpSync(whole.dir, damaged.dir, { recursive: true })
  const [chat] = entries()
  if (chat === undefined) throw new Error('there is no chat')
  rmSync(objectIn(damaged.dir, chat))
  execFileSync('mkfifo', [objectIn(damaged.dir, chat)])
  expect(damaged.verify()).toMatchObject({ ok: false, damaged: [chat.id] })
  damaged.remove()
})

test('of a manifest that is damaged, an object that is damaged too still tells its chat', () => {
  const damaged = new ArchiveFolder()
  cpSync(whole.dir, damaged.dir, { recursive: true })
  const [chat, other] = entries()
  if (chat === undefined || other === undefined) throw new Error('there are no chats')
  writeFileSync(runIn(damaged.dir), 'nothing')
  truncateSync(objectIn(damaged.dir, chat), chat.bytes - 4)
  const verdict = damaged.verify()
  expect(verdict).toMatchObject({ ok: false, damaged: [chat.id], soundRuns: [], unexpected: [] })
  expect(verdict.leftovers).toContain(objectPath(other.object))
  damaged.remove()
})

test('a share reads some of the objects, and every manifest', () => {
  const half = whole.verify(0.5)
  expect(half.ok).toBe(true)
  expect(half.checked).toBeLessThan(CHATS + 1)
  const damaged = new ArchiveFolder()
  cpSync(whole.dir, damaged.dir, { recursive: true })
  copyFileSync(runIn(whole.dir), join(damaged.dir, 'runs', '20200101T000000Z-manual.json'))
  expect(damaged.verify(0.001).damagedRuns.map(({ name }) => name)).toEqual(['20200101T000000Z-manual'])
  damaged.remove()
})

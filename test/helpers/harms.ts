import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { encodeManifest, objectPath, runPath, type Manifest } from '../../src/archive/manifest.ts'
import type { Chance } from '../fuzz/chance.ts'
import { ArchiveFolder } from './archive-folder.ts'

/** An archive folder with one run, before the damage. */
export interface Victim {
  readonly dir: string
  readonly manifest: Manifest
}

export interface Damage {
  /** The damaged chats. */
  readonly chats: readonly string[]
  /** The damaged runs; none if the damage is only an unexpected file. */
  readonly runs: readonly string[]
}

export type Harm = (victim: Victim, chance: Chance) => Damage

type Entry = Manifest['chats'][number]

function pick<Item>(chance: Chance, items: readonly Item[]): Item {
  const item = chance.of(items)
  if (item === undefined) throw new Error('there is nothing to choose from')
  return item
}

function two(chance: Chance, { manifest: { chats } }: Victim): [Entry, Entry] {
  const one = pick(chance, chats)
  const others = chats.filter((chat) => chat !== one)
  return [one, pick(chance, others)]
}

export const objectIn = (dir: string, { object }: Entry): string => join(dir, objectPath(object))
export const runIn = ({ dir, manifest }: Victim): string => join(dir, runPath(manifest.name))
const ofChat = (chat: Entry, { manifest }: Victim): Damage => ({ chats: [chat.id], runs: [manifest.name] })
const ofRun = ({ manifest }: Victim): Damage => ({ chats: [], runs: [manifest.name] })

function flip(path: string, chance: Chance): void {
  const bytes = readFileSync(path)
  const at = chance.below(bytes.length)
  bytes[at] = (bytes[at] ?? 0) ^ (1 << chance.below(8))
  writeFileSync(path, bytes)
}

/** Stores a file under the hash of its bytes, like a deliberate forgery. */
export function plant(dir: string, bytes: Buffer): string {
  const hash = createHash('sha256').update(bytes).digest('hex')
  mkdirSync(dirname(join(dir, objectPath(hash))), { recursive: true })
  writeFileSync(join(dir, objectPath(hash)), bytes)
  return hash
}

/** Writes the manifest with these chats, like a deliberate forgery. */
export function sealAgain(victim: Victim, chats: Manifest['chats']): void {
  writeFileSync(runIn(victim), encodeManifest({ ...victim.manifest, chats }))
}

const replaced = ({ manifest }: Victim, chat: Entry, by: Entry): Manifest['chats'] =>
  manifest.chats.map((each) => (each === chat ? by : each))

const all: Readonly<Record<string, Harm>> = {
  'a bit of an object flipped': (victim, chance) => {
    const chat = pick(chance, victim.manifest.chats)
    flip(objectIn(victim.dir, chat), chance)
    return ofChat(chat, victim)
  },
  'a bit of a manifest flipped': (victim, chance) => {
    flip(runIn(victim), chance)
    return ofRun(victim)
  },
  'an object cut off': (victim, chance) => {
    const chat = pick(chance, victim.manifest.chats)
    truncateSync(objectIn(victim.dir, chat), chance.below(chat.bytes))
    return ofChat(chat, victim)
  },
  'a manifest cut off': (victim, chance) => {
    truncateSync(runIn(victim), chance.below(readFileSync(runIn(victim)).length))
    return ofRun(victim)
  },
  'an object removed': (victim, chance) => {
    const chat = pick(chance, victim.manifest.chats)
    rmSync(objectIn(victim.dir, chat))
    return ofChat(chat, victim)
  },
  'two objects swapped': (victim, chance) => {
    const { dir, manifest } = victim
    const [one, other] = two(chance, victim)
    renameSync(objectIn(dir, one), join(dir, 'swap'))
    renameSync(objectIn(dir, other), objectIn(dir, one))
    renameSync(join(dir, 'swap'), objectIn(dir, other))
    return { chats: [one.id, other.id], runs: [manifest.name] }
  },
  'a manifest that gives one chat the object of another': (victim, chance) => {
    const [one, other] = two(chance, victim)
    sealAgain(victim, replaced(victim, one, { ...other, id: one.id }))
    return ofChat(one, victim)
  },
  'an object of zeros that unpacks to very much': (victim, chance) => {
    const chat = pick(chance, victim.manifest.chats)
    const object = plant(victim.dir, gzipSync(Buffer.alloc(40 * 1024 * 1024)))
    rmSync(objectIn(victim.dir, chat))
    sealAgain(victim, replaced(victim, chat, { ...chat, object }))
    return ofChat(chat, victim)
  },
  'a file that does not belong there': ({ dir }, chance) => {
    const hash = 'b'.repeat(64)
    const names = ['x', 'runs/x.json', 'objects/x', 'objects/zz/x', 'runs/..json', `objects/aa/${hash}.jsonl.gz`]
    const path = join(dir, pick(chance, names))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, 'planted')
    return { chats: [], runs: [] }
  },
  'a link in place of something': (victim, chance) => {
    const { dir, manifest } = victim
    const chat = pick(chance, manifest.chats)
    const path = chance.below(2) === 0 ? objectIn(dir, chat) : dirname(objectIn(dir, chat))
    const hidden = `${dir}.hidden`
    rmSync(hidden, { recursive: true, force: true })
    renameSync(path, hidden)
    symlinkSync(hidden, path)
    const inFolder = manifest.chats.filter((each) => dirname(objectIn(dir, each)) === path || each === chat)
    return { chats: inFolder.map(({ id }) => id), runs: [manifest.name] }
  },
}

/** Kinds of damage to an archive. On Windows, creating a link needs special rights. */
export const harms: readonly (readonly [kind: string, harm: Harm])[] = Object.entries(all).filter(
  ([kind]) => process.platform !== 'win32' || !kind.startsWith('a link'),
)

/** Damages a copy of an archive, and passes it to a check. */
export async function onDamagedCopy(
  whole: Victim,
  harm: Harm,
  chance: Chance,
  look: (damaged: ArchiveFolder, damage: Damage) => Promise<void> | void,
): Promise<void> {
  const damaged = new ArchiveFolder()
  try {
    cpSync(whole.dir, damaged.dir, { recursive: true })
    await look(damaged, harm({ ...whole, dir: damaged.dir }, chance))
  } finally {
    damaged.remove()
  }
}

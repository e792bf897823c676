import { createHash, type Hash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeStore, type StoreShape } from './make-store.ts'

/** Stores stay here between runs, because making a large one takes longer than measuring it. */
export const keptFolder = join(tmpdir(), 'cursordex-bench')

export interface KeptStore {
  readonly shape: StoreShape
  /** Cursor's `User` folder. */
  readonly userDir: string
  /** Path of the database in it. */
  readonly path: string
}

/** A store of this shape, from an earlier run unless the generator changed or `isFresh` is set. */
export function keepStore(shape: StoreShape, isFresh: boolean, say: (line: string) => void): KeptStore {
  const folder = join(keptFolder, `store-${stampOf(shape)}`)
  const userDir = join(folder, 'Cursor', 'User')
  const whole = join(folder, 'whole')
  if (isFresh || !existsSync(whole)) {
    say(`making a store of ${shape.messages} messages in ${shape.chats} chats`)
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    makeStore(folder, shape)
    writeFileSync(whole, '')
  }
  return { shape, userDir, path: join(userDir, 'globalStorage', 'state.vscdb') }
}

/** Identifies a store by its shape and the code that made it. */
function stampOf(shape: StoreShape): string {
  const hash = createHash('sha256').update(JSON.stringify(shape))
  for (const name of ['make-store.js', 'words.js']) {
    hash.update(readFileSync(fileURLToPath(new URL(name, import.meta.url))))
  }
  return hash.digest('hex').slice(0, 12)
}

export interface MirrorMaintenance {
  readonly dataDir: string
  readonly isWhole: boolean
  readonly markWhole: () => void
}

/** Code that decides the contents of a mirror. */
const INDEXING = ['src/model', 'src/text', 'src/mirror', 'src/indexer', 'bench/bench-projects.js']

/**
 * A data folder for a mirror of this store that stays between runs. Older ones of the same kind are removed.
 * @param isAnyTaken also takes a mirror that other code made, if only queries are measured
 * @param kind the first word of its name
 */
export function keepMirror({ userDir }: KeptStore, isAnyTaken: boolean, kind = 'mirror'): MirrorMaintenance {
  const folder = dirname(dirname(userDir))
  const hash = createHash('sha256')
  for (const path of INDEXING) addToHash(hash, fileURLToPath(new URL(`../${path}`, import.meta.url)))
  const name = `${kind}-${hash.digest('hex').slice(0, 12)}`
  const others = readdirSync(folder).filter((other) => other.startsWith(`${kind}-`) && other !== name)
  const taken = isAnyTaken ? others.find((other) => existsSync(join(folder, other, 'whole'))) : undefined
  if (taken !== undefined && !existsSync(join(folder, name))) renameSync(join(folder, taken), join(folder, name))
  for (const other of others) rmSync(join(folder, other), { recursive: true, force: true })
  const dataDir = join(folder, name)
  const whole = join(dataDir, 'whole')
  const isWhole = existsSync(whole)
  if (!isWhole) rmSync(dataDir, { recursive: true, force: true })
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  return { dataDir, isWhole, markWhole: () => writeFileSync(whole, '') }
}

function addToHash(hash: Hash, path: string): void {
  if (path.endsWith('.js')) hash.update(readFileSync(path))
  else if (!path.endsWith('.map')) for (const name of readdirSync(path).sort()) addToHash(hash, join(path, name))
}

import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs'
import { hash as digest } from 'node:crypto'
import { basename, join } from 'node:path'
import { isObjectHash, isRunName, objectPath, runPath } from '../../archive/names.ts'
import { isSystemLitter } from '../../model/system-litter.ts'
import { guessChatId, UNFINISHED } from './object-files.ts'
import { ARCHIVE_LOCK, readManifest } from './manifest-files.ts'
import { isFile, isFolder } from './plain-files.ts'
import { examineObject } from './prove-object.ts'
import type { DamagedRun, Progress } from '../http/schemas/archives.ts'

export interface Verdict {
  readonly ok: boolean
  /** Number of manifests and objects that were read completely. */
  readonly checked: number
  /** Ids of the chats with a damaged or missing object. */
  readonly damaged: readonly string[]
  readonly damagedRuns: readonly DamagedRun[]
  /** Runs in which no damage was found. */
  readonly soundRuns: readonly string[]
  /** Files of an interrupted run: objects that no manifest names, and temporary files. */
  readonly leftovers: readonly string[]
  /** Files that do not belong to an archive. */
  readonly unexpected: readonly string[]
}

interface Claim {
  /** The chat's id. */
  readonly id: string
  /** Names of the runs that say so. */
  readonly runs: Set<string>
}

/** What manifests say about each object, as a hash. */
type Claims = Map<string, Map<string, Claim>>

/**
 * Reads every byte below the archive folder. Compares manifests with their seals, and objects with their names and with
 * every manifest that names them. Follows no link. Yields progress.
 * @param share of the objects to read, 0 to 1; all manifests are read
 * @param turn selects the objects of the share: another word selects others
 */
export function* verifyArchive(given: string, share = 1, turn = ''): Generator<Progress, Verdict> {
  // The folder itself may be a link, but nothing below it may be one.
  const dir = existsSync(given) ? realpathSync(given) : given
  const found = walkFolder(dir)
  const claims: Claims = new Map()
  const damagedRuns = new Map<string, string | null>()
  for (const name of found.runs) {
    const why = takeClaims(dir, name, claims)
    if (why !== null) damagedRuns.set(name, why)
    yield { done: 0, total: claims.size }
  }
  const damaged = new Set<string>()
  const leftovers = [...found.leftovers]
  const unexpected = [...found.unexpected]
  const all = [...new Set([...claims.keys(), ...found.objects])].filter((hash) => isInShare(hash, share, turn))
  for (const [index, hash] of all.entries()) {
    const claim = claims.get(hash)
    const facts = factsOf(dir, hash)
    if (claim === undefined) {
      const id = facts === null ? guessChatId(dir, hash) : null
      if (id !== null) damaged.add(id)
      else if (facts === null) unexpected.push(objectPath(hash))
      else leftovers.push(objectPath(hash))
    } else {
      for (const [said, { id, runs }] of claim) {
        if (said === facts) continue
        damaged.add(id)
        for (const name of runs) if (!damagedRuns.has(name)) damagedRuns.set(name, null)
      }
    }
    yield { done: index + 1, total: all.length }
  }
  return {
    ok: damaged.size === 0 && damagedRuns.size === 0 && unexpected.length === 0,
    checked: found.runs.length + all.length,
    damaged: [...damaged],
    damagedRuns: [...damagedRuns].map(([name, why]) => ({ name, why })),
    soundRuns: found.runs.filter((name) => !damagedRuns.has(name)),
    leftovers,
    unexpected,
  }
}

/** Collects what a manifest says about each object. @returns what is wrong with the manifest, or null */
function takeClaims(dir: string, name: string, claims: Claims): string | null {
  const read = readManifest(dir, name)
  if (read.kind === 'damaged') return read.why
  for (const entry of read.value.chats) {
    const ofObject = claims.get(entry.object) ?? new Map<string, Claim>()
    const said = sayFacts(entry)
    const claim = ofObject.get(said) ?? { id: entry.id, runs: new Set() }
    claim.runs.add(name)
    claims.set(entry.object, ofObject.set(said, claim))
  }
  return null
}

/** Null if the object is damaged or missing. */
function factsOf(dir: string, hash: string): string | null {
  const facts = examineObject(dir, hash)
  return facts.kind === 'sound' ? sayFacts(facts.value) : null
}

interface Said {
  readonly id: string
  readonly content: string
  readonly bytes: number
  readonly messages: readonly string[]
}

/** A hash of the facts: short, however long the chat is. */
const sayFacts = ({ id, content, bytes, messages }: Said): string =>
  digest('sha256', JSON.stringify([id, content, bytes, messages]))

const isInShare = (hash: string, share: number, turn: string): boolean =>
  share >= 1 || parseInt(digest('sha256', `${turn} ${hash}`).slice(0, 8), 16) / 2 ** 32 < share

interface Walked {
  readonly runs: readonly string[]
  readonly objects: readonly string[]
  readonly leftovers: readonly string[]
  readonly unexpected: readonly string[]
}

/** Sorts every file below the folder into one of the lists. */
function walkFolder(dir: string): Walked {
  const runs: string[] = []
  const objects: string[] = []
  const leftovers: string[] = []
  const unexpected: string[] = []
  for (const path of listBelow(dir)) {
    const name = /^runs\/(.*)\.json$/.exec(path)?.[1] ?? ''
    const hash = /\/([0-9a-f]{64})\.jsonl\.gz$/.exec(path)?.[1] ?? ''
    if (isRunName(name) && path === runPath(name)) runs.push(name)
    else if (isObjectHash(hash) && path === objectPath(hash)) objects.push(hash)
    else if (/^(runs|objects\/[0-9a-f]{2})\/[^/]*$/.test(path) && path.endsWith(UNFINISHED) && isFile(join(dir, path)))
      leftovers.push(path)
    else if (!(isSystemLitter(basename(path)) && isFile(join(dir, path)))) unexpected.push(path)
  }
  return { runs, objects, leftovers, unexpected }
}

/** Relative paths, with slashes, of everything except the archive's own folders. */
function* listBelow(dir: string): Generator<string> {
  for (const name of listNames(dir)) {
    if (name === ARCHIVE_LOCK && isEmptyFile(join(dir, name))) continue
    const isOurs = (name === 'runs' || name === 'objects') && isFolder(join(dir, name))
    if (!isOurs) yield name
    else if (name === 'runs') for (const file of listNames(join(dir, name))) yield `runs/${file}`
    else yield* listObjectFiles(dir)
  }
}

function* listObjectFiles(dir: string): Generator<string> {
  for (const folder of listNames(join(dir, 'objects'))) {
    const path = join(dir, 'objects', folder)
    if (!/^[0-9a-f]{2}$/.test(folder) || !isFolder(path)) yield `objects/${folder}`
    else for (const file of listNames(path)) yield `objects/${folder}/${file}`
  }
}

/** Does not open the file: closing it would drop the lock if this process holds it. */
function isEmptyFile(path: string): boolean {
  const stat = lstatSync(path)
  return stat.isFile() && stat.size === 0
}

const listNames = (path: string): readonly string[] => (isFolder(path) ? readdirSync(path).sort() : [])

import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { openWriter, type Mirror } from '../open.ts'
import { takeMark } from './clean-mark.ts'
import { salvage } from './salvage.ts'

const NAME = /^mirror-damaged-[\w-]+\.db$/
/** The main file last: while it has its old name, the move can be finished. */
const SUFFIXES = ['-shm', '-wal', '']
/** A new mirror that is not complete yet. */
const UNFINISHED = '-unfinished'
/** A complete new mirror has the name of the damaged file with this suffix until it takes its place. */
const COMPLETE = '-new'

/**
 * Makes a new mirror of what can be read of a damaged one, which gets a name with the date, in the same folder, with its
 * WAL. Nobody may have it open. If the process is killed, or the disk is full, the damaged mirror is still in its place,
 * or `finishReplacing` puts the new one there.
 */
export function replaceMirror(path: string, nowMs: number): void {
  const unfinished = path + UNFINISHED
  remove(unfinished)
  const file = nameFor(path, nowMs)
  const db = openWriter(unfinished)
  try {
    salvage(db, path, file, nowMs)
    db.pragma('wal_checkpoint(truncate)')
  } finally {
    db.close()
  }
  // Only the main file gets the new name.
  if (sizeOf(`${unfinished}-wal`) > 0) throw new Error(`${unfinished} is not complete without its write-ahead log`)
  renameSync(unfinished, nextTo(path, file) + COMPLETE)
  finishReplacing(path)
}

/** Gives a complete new mirror the place of the damaged one. A mirror must never be opened without its WAL. */
export function finishReplacing(path: string): void {
  if (!existsSync(dirname(path))) return
  for (const name of readdirSync(dirname(path))) {
    const file = name.slice(0, -COMPLETE.length)
    if (!name.endsWith(COMPLETE) || !NAME.test(file)) continue
    // The mark is of the damaged file.
    takeMark(path)
    // SQLite made an empty one to read the file.
    if (sizeOf(`${path}-wal`) === 0) rmSync(`${path}-wal`, { force: true })
    for (const suffix of SUFFIXES) {
      if (existsSync(path + suffix)) renameSync(path + suffix, nextTo(path, file) + suffix)
    }
    rmSync(`${nextTo(path, file)}-shm`, { force: true })
    renameSync(nextTo(path, name), path)
  }
}

/** The names of the files that were set aside, the newest first. */
export const listSetAside = (path: string): string[] =>
  readdirSync(dirname(path))
    .filter((name) => NAME.test(name))
    .sort()
    .reverse()

/** Removes the files that were set aside, with their WALs. @returns their names */
export function dropSetAside(path: string): string[] {
  const files = listSetAside(path)
  for (const file of files) remove(nextTo(path, file))
  return files
}

export const nextTo = (path: string, file: string): string => join(dirname(path), basename(file))

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

const remove = (path: string): void => SUFFIXES.forEach((suffix) => rmSync(path + suffix, { force: true }))

function nameFor(path: string, nowMs: number): string {
  const stamp = new Date(nowMs).toISOString().replace(/\.\d+/, '').replaceAll(':', '')
  const taken = new Set(readdirSync(dirname(path)))
  for (let again = 1; ; again += 1) {
    const name = `mirror-damaged-${stamp}${again === 1 ? '' : `-${again}`}.db`
    if (!taken.has(name)) return name
  }
}

interface Salvage {
  readonly file: string
  readonly chats: number
  readonly messages: number
  /** Messages that are known to be lost. */
  readonly lost: number
}

const LIST = `
select file, chats, messages, lost from salvages where done_at is not null order by file
`

export interface SalvageNotice {
  /** The damaged file. */
  readonly path: string
  readonly text: string
  /** Whether anything is known to be lost. */
  readonly isLossy: boolean
}

/** Sentences about the damaged mirrors that are still there. @param path the mirror */
export const listSalvages = (db: Mirror, path: string): SalvageNotice[] =>
  db
    .prepare<[], Salvage>(LIST)
    .all()
    .map((one) => ({
      path: nextTo(path, one.file),
      text: describe(path, one),
      isLossy: one.lost > 0,
    }))
    .filter((notice) => existsSync(notice.path))

const count = (value: number): string => value.toLocaleString('en')

function describe(path: string, { file, chats, messages, lost }: Salvage): string {
  const unreadable = lost === 0 ? '' : ` ${count(lost)} messages could not be read.`
  return `The mirror was damaged and was replaced by a new one. ${count(messages)} messages of ${count(chats)} chats were saved.${unreadable} The damaged file is ${nextTo(path, file)}.`
}

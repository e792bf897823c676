import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
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
  const file = `mirror-damaged-${new Date(nowMs).toISOString().replaceAll(/[:.]/g, '')}.db`
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

/** Removes the files that were set aside, with their WALs. */
export function dropSetAside(path: string): void {
  for (const name of readdirSync(dirname(path))) if (NAME.test(name)) remove(nextTo(path, name))
}

const nextTo = (path: string, file: string): string => join(dirname(path), file)

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

const remove = (path: string): void => SUFFIXES.forEach((suffix) => rmSync(path + suffix, { force: true }))

const count = (value: number): string => value.toLocaleString('en')

/** The damaged mirrors of which salvaging ended. `lost`: messages that are known to be lost. */
const LIST = `select file, chats, messages, lost from salvages where done_at is not null order by file`

export interface SalvageNotice {
  /** The damaged file. */
  readonly path: string
  readonly text: string
  /** Whether anything is known to be lost, or nothing could be read. */
  readonly isLossy: boolean
}

/** Sentences about the damaged mirrors that are still there. @param mirrorPath the mirror */
export function listSalvages(db: Mirror, mirrorPath: string): SalvageNotice[] {
  return db
    .prepare<[], { file: string; chats: number; messages: number; lost: number }>(LIST)
    .all()
    .map(({ file, chats, messages, lost }) => {
      const path = nextTo(mirrorPath, file)
      const unreadable = lost === 0 ? '' : ` ${count(lost)} messages could not be read.`
      const text = `The mirror was damaged and was replaced by a new one. ${count(messages)} messages of ${count(chats)} chats were saved.${unreadable} The damaged file is ${path}.`
      return { path, text, isLossy: lost > 0 || messages === 0 }
    })
    .filter(({ path }) => existsSync(path))
}

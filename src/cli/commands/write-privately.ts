import { rmSync, statSync } from 'node:fs'
import { open, realpath, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { UserError } from '../../model/user-error.ts'

/**
 * Writes a text to a file that only its owner can read, from the first byte on. The file is made when the first of
 * the text is there, so that a question in vain leaves none; where the text breaks off, or who asked for it ends the
 * program, it is removed, for half a text must not pass for the whole. A file that was there is only replaced by a whole one.
 * @throws UserError `output-exists` where there is one already and it may not be overwritten; `output` for the rest
 */
export async function writePrivately(file: string, text: AsyncIterable<string>, mayOverwrite: boolean): Promise<void> {
  let making: Promise<Place> | null = null
  let place: Place | null = null
  const leave = onEnd(async () => {
    // It may be at the making of the file still; of one that is no file, such as a pipe, nobody may come to read.
    const made = await Promise.race([making, sleep(MADE_WITHIN_MS, null)]).catch(() => null)
    if (made?.isFile === true) rmSync(made.path, { force: true })
  })
  try {
    for await (const stretch of text) {
      place ??= await (making ??= create(file, mayOverwrite))
      await place.handle.appendFile(stretch, 'utf8')
    }
    await place?.handle.close()
    if (place !== null && place.becomes !== null) await rename(place.path, place.becomes)
  } catch (error) {
    if (place !== null) await discard(place)
    throw troubleOf(error, file)
  } finally {
    leave()
  }
}

const MADE_WITHIN_MS = 500

/**
 * Acts before a signal that ends the program does so.
 * @returns what leaves the signals to themselves again
 */
function onEnd(act: () => Promise<void>): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const end = (signal: NodeJS.Signals): void => {
    forget()
    void act().finally(() => process.kill(process.pid, signal))
  }
  const forget = (): void => {
    for (const signal of signals) process.removeListener(signal, end)
  }
  for (const signal of signals) process.on(signal, end)
  return forget
}

interface Place {
  readonly path: string
  readonly handle: FileHandle
  /** The file that it is to replace; null where it is written in its place. */
  readonly becomes: string | null
  readonly isFile: boolean
}

async function create(file: string, mayOverwrite: boolean): Promise<Place> {
  const becomes = mayOverwrite ? await fileAt(file) : null
  const path = becomes === null ? file : `${becomes}.${process.pid}.tmp`
  // Into a device it is written as it is.
  const handle = await open(path, mayOverwrite && becomes === null ? 'w' : 'wx', 0o600)
  return { path, handle, becomes, isFile: (await handle.stat()).isFile() }
}

/** The file that lies there, or behind a link; null for a device, and where there is none. */
async function fileAt(path: string): Promise<string | null> {
  const stats = await stat(path).catch(() => null)
  return stats?.isFile() === true ? realpath(path) : null
}

async function discard({ path, handle, isFile }: Place): Promise<void> {
  // Where it was the closing or the renaming that failed, it is closed.
  await handle.close().catch(() => undefined)
  if (isFile) await rm(path, { force: true })
}

function troubleOf(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || !('code' in error) || error instanceof UserError) return error
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true) {
    return new UserError('output', `${file} is a folder.`, 'Name a file in it.', { cause: error })
  }
  if (error.code === 'EEXIST') {
    return new UserError('output-exists', `${file} is there already.`, 'Choose another name, or add --force.')
  }
  const message = `${file} could not be written (${String(error.code)}).`
  return new UserError('output', message, 'Choose a place that you may write to and that has room.', { cause: error })
}

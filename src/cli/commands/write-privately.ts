import { rmSync, statSync } from 'node:fs'
import { open, realpath, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { UserError } from '../../model/user-error.ts'

/**
 * Writes a text to a file that only its owner can read from the first byte on. The file is created when the first part
 * of the text arrives, so that a failed request leaves no file. If the text ends with an error, or a signal ends the
 * program, the file is removed, so that nobody takes half a text for the whole. An existing file is only replaced by a
 * complete one.
 * @throws UserError `output-exists` if the file exists and may not be overwritten; `output` for other errors
 */
export async function writePrivately(file: string, text: AsyncIterable<string>, mayOverwrite: boolean): Promise<void> {
  let opening: Promise<Place> | null = null
  let place: Place | null = null
  const removeHandlers = onEnd(async () => {
    // The file may still be opening. Opening a pipe can wait forever, because nobody may ever read it.
    const made = await Promise.race([opening, sleep(OPENED_WITHIN_MS, null)]).catch(() => null)
    if (made?.isFile === true) rmSync(made.path, { force: true })
  })
  try {
    for await (const piece of text) {
      place ??= await (opening ??= create(file, mayOverwrite))
      await place.handle.appendFile(piece, 'utf8')
    }
    await place?.handle.close()
    if (place !== null && place.replaces !== null) await rename(place.path, place.replaces)
  } catch (error) {
    if (place !== null) await discard(place)
    throw asUserError(error, file)
  } finally {
    removeHandlers()
  }
}

const OPENED_WITHIN_MS = 500

/**
 * Runs an action before a signal ends the program.
 * @returns a function that removes the signal handlers
 */
function onEnd(action: () => Promise<void>): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const end = (signal: NodeJS.Signals): void => {
    forget()
    void action().finally(() => process.kill(process.pid, signal))
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
  /** The file that it will replace. Null if it is written in place. */
  readonly replaces: string | null
  readonly isFile: boolean
}

async function create(file: string, mayOverwrite: boolean): Promise<Place> {
  const replaces = mayOverwrite ? await fileAt(file) : null
  const path = replaces === null ? file : `${replaces}.${process.pid}.tmp`
  // A device is opened and written directly.
  const handle = await open(path, mayOverwrite && replaces === null ? 'w' : 'wx', 0o600)
  return { path, handle, replaces, isFile: (await handle.stat()).isFile() }
}

/** The path of the file, with links resolved. Null for a device, and if there is no file. */
async function fileAt(path: string): Promise<string | null> {
  const stats = await stat(path).catch(() => null)
  return stats?.isFile() === true ? realpath(path) : null
}

async function discard({ path, handle, isFile }: Place): Promise<void> {
  // If closing or renaming failed, the file is already closed.
  await handle.close().catch(() => undefined)
  if (isFile) await rm(path, { force: true })
}

function asUserError(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || !('code' in error) || error instanceof UserError) return error
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true) {
    return new UserError('output', `${file} is a folder.`, 'Name a file in it.', { cause: error })
  }
  if (error.code === 'EEXIST') {
    return new UserError('output-exists', `${file} already exists.`, 'Choose another name, or add --force.')
  }
  const message = `${file} could not be written (${String(error.code)}).`
  return new UserError('output', message, 'Choose a folder that you may write to, on a disk with free space.', {
    cause: error,
  })
}

import { open, rm } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { Trouble } from '../model/trouble.ts'

/**
 * Writes a text to a file that only its owner can read, from the first byte on. The file is made when the first of
 * the text is there, so that a question in vain leaves none; where the text breaks off it is removed, for half a
 * text must not pass for the whole.
 * @throws Trouble `output-exists` where there is one already and it may not be overwritten; `output` for the rest
 */
export async function writePrivately(file: string, text: AsyncIterable<string>, mayOverwrite: boolean): Promise<void> {
  let handle: FileHandle | null = null
  try {
    for await (const stretch of text) {
      handle ??= await create(file, mayOverwrite)
      await handle.appendFile(stretch, 'utf8')
    }
  } catch (error) {
    if (handle !== null) await discard(file, handle)
    throw troubleOf(error, file)
  }
  await handle?.close()
}

async function create(file: string, mayOverwrite: boolean): Promise<FileHandle> {
  const handle = await open(file, mayOverwrite ? 'w' : 'wx', 0o600)
  // A file that was there has the mode it had; a device is nobody's to close to others.
  if (mayOverwrite && (await handle.stat()).isFile()) await handle.chmod(0o600)
  return handle
}

async function discard(file: string, handle: FileHandle): Promise<void> {
  const isFile = (await handle.stat()).isFile()
  await handle.close()
  if (isFile) await rm(file, { force: true })
}

function troubleOf(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || !('code' in error) || error instanceof Trouble) return error
  if (error.code === 'EEXIST') {
    return new Trouble('output-exists', `${file} is there already.`, 'Choose another name, or add --force.')
  }
  const message = `${file} could not be written (${String(error.code)}).`
  return new Trouble('output', message, 'Choose a place that you may write to and that has room.', { cause: error })
}

import { rmSync, statSync } from 'node:fs'
import { open, realpath, rename, type FileHandle } from 'node:fs/promises'
import { UserError } from '../../model/user-error.ts'

/**
 * Writes a text to a file that only its owner can read from the first byte on. It is written beside its place and
 * renamed when it is complete, so that nobody takes half a text for the whole. A failed request leaves no file. A device is
 * written directly.
 * @param mode of the new file
 * @throws UserError `output-exists` if the file exists and may not be overwritten; any error of the file system
 */
export async function writePrivately(
  file: string,
  text: AsyncIterable<string> | Iterable<string>,
  mayOverwrite: boolean,
  mode = 0o600,
): Promise<void> {
  let beside = ''
  let handle: FileHandle | null = null
  try {
    const place = await placeOf(file, mayOverwrite)
    for await (const piece of text) {
      if (handle === null && place.isDevice) handle = await open(place.path, 'w')
      handle ??= await open((beside = `${place.path}.${process.pid}.tmp`), 'wx', mode)
      await handle.appendFile(piece, 'utf8')
    }
    await handle?.close()
    if (beside !== '') await rename(beside, place.path)
  } catch (error) {
    // If closing or renaming failed, the file is already closed.
    await handle?.close().catch(() => undefined)
    if (beside !== '') rmSync(beside, { force: true })
    throw error
  }
}

/** The path of the file, with links resolved. */
async function placeOf(file: string, mayOverwrite: boolean): Promise<{ path: string; isDevice: boolean }> {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats === undefined) return { path: file, isDevice: false }
  if (stats.isDirectory()) throw new UserError('output', `${file} is a folder.`, 'Name a file in it.')
  if (!mayOverwrite) {
    throw new UserError('output-exists', `${file} already exists.`, 'Choose another name, or add --force.')
  }
  return { path: await realpath(file), isDevice: !stats.isFile() }
}

import { rmSync, statSync, realpathSync } from 'node:fs'
import { open, realpath, rename, type FileHandle } from 'node:fs/promises'
import { UserError } from '../../model/user-error.ts'
import { dirname } from 'node:path'
import { readRegular } from '../../regular-file.ts'

/**
 * The text of a file that a person named, with its BOM.
 * @param bytesMax a larger file is refused
 * @param hint what the person can do if it cannot be read
 * @throws UserError `unreadable`, also for other bytes than UTF-8; RefusedFile
 */
export function readText(path: string, bytesMax: number, hint: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readRegular(path, bytesMax))
  } catch (cause) {
    if (cause instanceof UserError) throw cause
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
    const what = code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'is not UTF-8' : `cannot be read (${code})`
    throw new UserError('unreadable', `${path} ${what}.`, hint, { cause })
  }
}

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

/** Folders of npx, of its counterparts, and of fnm, which makes one for each shell. */
const TEMPORARY = /[/\\](_npx|dlx(-[^/\\]*)?|bunx-[^/\\]*|fnm_multishells)[/\\]/

/**
 * How another program starts this one without a shell: the paths of Node and of the script.
 * @throws UserError `temporary-install` if it is in a folder that npx removes
 */
export function ownProgram(): readonly [node: string, script: string] {
  const script = realpathSync(process.argv[1] ?? '')
  if (!TEMPORARY.test(script)) return [realpathSync(process.execPath), script]
  const text = `This program is in a temporary folder of npx (${dirname(script)}), which npm removes.`
  throw new UserError('temporary-install', text, 'Install it first: npm install --global cursordex')
}

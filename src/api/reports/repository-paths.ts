import { posix, win32 } from 'node:path'

/** The beginning of an absolute Windows path. Cursor also writes `/c:/shop`. */
const ON_WINDOWS = /^(?:\/?[a-z]:[\\/]|\\\\)/i

/**
 * One form of a path, to compare it: absolute, with slashes, and accents in one sign with their letters, which macOS
 * stores apart. Windows ignores case.
 * @param folder where a relative path starts
 */
export function comparablePath(path: string, folder: string): string {
  if (!ON_WINDOWS.test(folder)) return posix.resolve(folder, path).normalize('NFC')
  const [from = '', to = ''] = [folder, path].map((each) => each.replace(/^\/(?=[a-z]:)/i, ''))
  return win32.resolve(from, to).replaceAll('\\', '/').normalize('NFC').toLowerCase()
}

/** Whether an absolute path is a folder or lies below it. */
export function isWithin(path: string, folder: string): boolean {
  const outer = comparablePath(folder, folder).replace(/\/?$/, '/')
  return `${comparablePath(path, path)}/`.startsWith(outer)
}

/** The folder of a project. For a workspace file of several folders, the folder of that file. */
export const folderOf = (path: string): string => path.replace(/[\\/][^\\/]+\.code-workspace$/, '') || '/'

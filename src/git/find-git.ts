import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

export type Environment = Readonly<Record<string, string | undefined>>

const NAME = process.platform === 'win32' ? 'git.exe' : 'git'

/**
 * Where git is installed; null where it is not. Folders that a project brings along are no place to look: `npx` puts
 * the project's own `node_modules/.bin` before all others, and a relative folder may be anywhere.
 */
export function findGit(env: Environment): string | null {
  const path = env['PATH'] ?? env['Path'] ?? ''
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder) && !/[\\/]node_modules[\\/]/.test(folder))
  return folders.map((folder) => join(folder, NAME)).find(isProgram) ?? null
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    // Not there, or not for us.
    return false
  }
}

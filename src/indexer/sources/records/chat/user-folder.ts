import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** What Cursor makes in its `User` folder when it is first started. */
export const userFolderParts = ['globalStorage', 'workspaceStorage'] as const

export const isUserFolder = (path: string): boolean => userFolderParts.some((name) => existsSync(join(path, name)))

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isUserFolder, userFolderParts } from '../indexer/sources/records/chat/user-folder.ts'

/**
 * A sentence for each place that is there and is no `User` folder of Cursor's: the folder above was named, or one or a file
 * within. It is watched all the same, for Cursor may make its folders yet.
 */
export function misconfiguredFolders(userDirs: readonly string[]): string[] {
  return userDirs
    .filter((userDir) => existsSync(userDir) && !isUserFolder(userDir))
    .map((userDir) => {
      const near = [join(userDir, 'User'), join(userDir, 'Cursor', 'User'), dirname(userDir), dirname(dirname(userDir))]
      const meant = near.find(isUserFolder)
      const remedy = meant === undefined ? 'Name another with' : `Perhaps you meant ${meant}:`
      return `No chats of Cursor are in ${userDir}: it holds neither ${userFolderParts.join(' nor ')}. ${remedy} --cursor-user-dir.`
    })
}

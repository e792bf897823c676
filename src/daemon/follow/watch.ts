import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { watch as watchFiles, type FSWatcher } from 'chokidar'
import { identityOf } from '../../indexer/open-safely/cursor-file.ts'

export interface Watch {
  /** Also watches these folders from now on, and only these files in them. */
  follow(folders: readonly string[], files: readonly string[]): void
  close(): Promise<void>
}

/**
 * Reports that something happened in a folder of Cursor. Events can get lost, come early or come twice, so polling
 * continues too. It watches folders and opens no file.
 * @param onError is called once, for example if the system's limit of watches is reached
 */
export function startWatch(onChange: (folder: string, name: string) => void, onError: (error: Error) => void): Watch {
  let hasFailed = false
  const files = new Set<string>()
  const watcher: FSWatcher = watchFiles([], {
    depth: 0,
    ignoreInitial: true,
    persistent: true,
    alwaysStat: false,
    atomic: false,
    ignorePermissionErrors: true,
    ignored: (path, stats) => stats?.isFile() === true && !files.has(path),
  })
  watcher.on('all', (_event, path) => onChange(path.slice(0, -basename(path).length - 1), basename(path)))
  watcher.on('error', (error) => {
    if (hasFailed) return
    hasFailed = true
    onError(error instanceof Error ? error : new Error(String(error)))
  })
  const followed = new Map<string, string>()
  return {
    follow(folders, moreFiles) {
      for (const file of moreFiles) files.add(file)
      const present = new Map(folders.flatMap((folder) => withIdentity(folder)))
      const fresh = [...present].filter(([folder, identity]) => followed.get(folder) !== identity)
      // A folder that was removed and created again has no events until it is added again.
      const lost = folders.filter((folder) => followed.has(folder) && followed.get(folder) !== present.get(folder))
      for (const folder of lost) followed.delete(folder)
      if (lost.length > 0) watcher.unwatch(lost)
      for (const [folder, identity] of fresh) followed.set(folder, identity)
      if (fresh.length > 0) watcher.add(fresh.map(([folder]) => folder))
    },
    close: () => watcher.close(),
  }
}

/**
 * Empty if the folder does not exist: chokidar would then watch the next existing parent, such as the user's home, and list
 * it at each event. The caller of `follow` calls it again later. Some file systems, such as ext4, reuse the inode of a
 * removed folder for a new one. The time of birth distinguishes the two.
 */
function withIdentity(folder: string): [folder: string, identity: string][] {
  try {
    const stat = statSync(folder, { bigint: true, throwIfNoEntry: false })
    return stat === undefined ? [] : [[folder, `${identityOf(stat)}:${stat.birthtimeNs}`]]
  } catch {
    return []
  }
}

/** Why there are no events, as sentences. */
export function watchError(error: Error): string {
  const code = 'code' in error ? String(error.code) : ''
  const why = code === 'ENOSPC' || code === 'EMFILE' ? 'the limit of watches of this system is reached' : error.message
  return `Watching by events stopped working (${why}). Polling continues: new messages are found within a second in the global store and in stores that changed within the hour, and within a minute in others. Raise fs.inotify.max_user_watches to get events again.`
}

import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { watch as watchFiles, type FSWatcher } from 'chokidar'
import { identityOf } from '../../indexer/open-safely/file-identity.ts'

export interface Watch {
  /** Watches these folders, and of their files these, from now on too. */
  follow(folders: readonly string[], files: readonly string[]): void
  close(): Promise<void>
}

/**
 * Tells that something happened in a folder of Cursor's. Only a nudge: events get lost, come early, or come twice, and
 * polling stands behind them. Folders are watched, never files held open.
 * @param onTrouble hears once when the system's limit of watches is reached; polling goes on
 */
export function startWatch(onChange: (folder: string, name: string) => void, onTrouble: (error: Error) => void): Watch {
  let hasTrouble = false
  const files = new Set<string>()
  const watcher: FSWatcher = watchFiles([], {
    depth: 0,
    ignoreInitial: true,
    persistent: true,
    alwaysStat: false,
    atomic: false,
    ignored: (path, stats) => stats?.isFile() === true && !files.has(path),
  })
  watcher.on('all', (_event, path) => onChange(path.slice(0, -basename(path).length - 1), basename(path)))
  watcher.on('error', (error) => {
    if (hasTrouble) return
    hasTrouble = true
    onTrouble(error instanceof Error ? error : new Error(String(error)))
  })
  const followed = new Map<string, string>()
  return {
    follow(folders, moreFiles) {
      for (const file of moreFiles) files.add(file)
      const there = new Map(folders.flatMap((folder) => withIdentity(folder)))
      const fresh = [...there].filter(([folder, identity]) => followed.get(folder) !== identity)
      // Of a folder that was removed, and is there again, nothing would be told any more.
      const lost = folders.filter((folder) => followed.has(folder) && followed.get(folder) !== there.get(folder))
      for (const folder of lost) followed.delete(folder)
      if (lost.length > 0) watcher.unwatch(lost)
      for (const [folder, identity] of fresh) followed.set(folder, identity)
      if (fresh.length > 0) watcher.add(fresh.map(([folder]) => folder))
    },
    close: () => watcher.close(),
  }
}

/**
 * None where there is no such folder: chokidar would watch the next one above it that there is, such as the user's home,
 * and list it at each of its events. Whoever asks to follow asks again. Some file systems, such as ext4, give a folder that
 * is made anew the inode of the one that was removed: when it was made tells the two apart.
 */
function withIdentity(folder: string): [folder: string, identity: string][] {
  try {
    const stat = statSync(folder, { bigint: true, throwIfNoEntry: false })
    return stat === undefined ? [] : [[folder, `${identityOf(stat)}:${stat.birthtimeNs}`]]
  } catch {
    return []
  }
}

/** Why events do not come any more, in words for a person. */
export function watchError(error: Error): string {
  const code = 'code' in error ? String(error.code) : ''
  const why = code === 'ENOSPC' || code === 'EMFILE' ? 'the limit of watches of this system is reached' : error.message
  return `Watching by events stopped working (${why}); polling goes on, and new messages are found within a second in the global store and where something changed within the hour, elsewhere within a minute. Raise fs.inotify.max_user_watches to have events back.`
}

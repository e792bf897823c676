import { watch as watchFiles } from 'chokidar'
import type { FollowContext } from './follow.ts'

/**
 * One watcher of many folders. It reports what the system says, at once: chokidar's own events come after a look at each
 * entry of a folder, of which there may be a hundred thousand. For the same reason it ignores the entries.
 */
export function openWatch(onError: (error: unknown) => void) {
  const listeners = new Map<string, (kind: string, name: string | null) => void>()
  const watcher = watchFiles([], {
    depth: 0,
    ignoreInitial: true,
    ignorePermissionErrors: true,
    ignored: (path) => !listeners.has(path),
  })
  watcher.on('raw', (kind, name, details) => {
    listeners.get((details as { readonly watchedPath: string }).watchedPath)?.(kind, name)
  })
  watcher.on('error', onError)
  const watch: FollowContext['watch'] = (folder, onEvent) => {
    listeners.set(folder, onEvent)
    watcher.add(folder)
    return () => {
      listeners.delete(folder)
      watcher.unwatch(folder)
    }
  }
  return { watch, close: () => watcher.close() }
}

import { statSync } from 'node:fs'

/** Bytes of the mirror on disk, its WAL included; 0 where there is none yet. */
export function measureMirrorBytes(path: string): number {
  const sizes = [path, `${path}-wal`].map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0)
  return sizes.reduce((sum, size) => sum + size, 0)
}

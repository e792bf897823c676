import { statSync, type BigIntStats } from 'node:fs'

/** Device and inode: another identity means another file, however alike its name. */
export const identityOf = ({ dev, ino }: Pick<BigIntStats, 'dev' | 'ino'>): string => `${dev}:${ino}`

/** By `stat` alone. Null while nothing lies there. @throws Error where it may not be looked at */
export function identityAt(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stat === undefined ? null : identityOf(stat)
}

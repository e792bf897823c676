import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { objectPath } from '../archive/names.ts'

/** Writes a downloaded object where an archive would have it. Only this user can read it. */
export function spoolObject(dir: string, name: string, object: Buffer): void {
  const path = join(dir, objectPath(name))
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(path, object, { mode: 0o600 })
}

import { lchownSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Permissions do not stop root, and CI runs as root. What tests permissions then acts as this user: nobody. */
export const OTHER_USER = 65_534

const isRoot = process.geteuid?.() === 0

/** The user of a program whom permissions stop, as an option of `spawn` and of `Workplace`. */
export const asOther: { readonly uid?: number } = isRoot ? { uid: OTHER_USER } : {}

/** Gives folders and all below them to that user. */
export function giveToOther(...folders: readonly string[]): void {
  if (!isRoot) return
  for (const folder of folders) {
    const below = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))
    for (const path of [folder, ...below]) lchownSync(path, OTHER_USER, OTHER_USER)
  }
}

/** Acts in the test's own process as that user. The folders that it needs are given to it first. */
export async function actAsOther<Result>(
  folders: readonly string[],
  act: () => Result | Promise<Result>,
): Promise<Result> {
  if (!isRoot) return act()
  giveToOther(...folders)
  process.seteuid?.(OTHER_USER)
  try {
    return await act()
  } finally {
    process.seteuid?.(0)
  }
}

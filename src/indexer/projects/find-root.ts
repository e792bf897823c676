import { lstatSync } from 'node:fs'
import { basename, isAbsolute, join, resolve } from 'node:path'
import type { EvidenceWrite, Root } from '../../model/change.ts'
import type { ChatId } from '../../model/ids.ts'
import { readRegular } from '../../regular-file.ts'
import { asRecord, filledStringIn, listIn, parseJson } from '../sources/records/json.ts'
import { type Evidence, evidenceMethods, normaliseRoot } from './root-uri.ts'

/** What is below one of Cursor's own working trees, `~/.cursor/worktrees/<repository>/<id>`. */
const WITHIN_WORKTREE = /(?<=\/\.cursor\/worktrees\/[^/]+\/[^/]+)\/.*$/s

/**
 * The root of a folder that evidence names: for a folder in one of Cursor's working trees the working tree, with the
 * repository that its own file names, while it exists on this machine; an untitled workspace is named by its folders.
 */
export function findRoot(uri: string): Root | null {
  const given = normaliseRoot(uri)
  const untitled = given === null ? null : readUntitledName(given)
  if (given !== null && untitled !== null) return { ...given, name: untitled }
  const root =
    given === null || !WITHIN_WORKTREE.test(given.uri) ? given : normaliseRoot(given.uri.replace(WITHIN_WORKTREE, ''))
  const repository = root === null ? null : readRepository(root)
  const worktreeOf = repository === null ? null : normaliseRoot(repository)
  return root === null || worktreeOf === null ? root : { ...root, worktreeOf }
}

/** Keeps the evidence that names a root, and ranks it. The best method decides to which project a chat belongs. */
export function weighEvidence(
  chatId: ChatId,
  evidence: readonly Evidence[],
  { isOnly }: Pick<EvidenceWrite, 'isOnly'>,
): EvidenceWrite[] {
  return evidence.flatMap(({ method, uri }) => {
    const root = findRoot(uri)
    return root === null ? [] : [{ chatId, method, rank: evidenceMethods.indexOf(method) * 10, root, isOnly }]
  })
}

/** It names one folder. */
const BYTES_MAX = 64 * 1024

/** By path. Nearly all evidence names a folder that was asked about before. */
const known = new Map<string, string | null>()

/**
 * The repository of a folder on this machine that is a linked working tree of git: its `.git` is a file that names a folder
 * below the repository's. Null for any other folder, and for one that does not exist. An answer holds while the process
 * runs.
 */
function readRepository({ uri, path }: Root): string | null {
  if (!uri.startsWith('file:///') || !isAbsolute(path)) return null
  const found = known.get(path) ?? (known.has(path) ? null : nameIn(path))
  // A folder of Cursor's may be made after it is named.
  if (found !== null || !path.includes('/.cursor/worktrees/')) known.set(path, found)
  return found
}

function nameIn(folder: string): string | null {
  try {
    const file = join(folder, '.git')
    if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return null
    const [, place] = /^gitdir: (.+)$/m.exec(readRegular(file, BYTES_MAX).toString()) ?? []
    // A submodule's file names `.git/modules`, and belongs to no other repository.
    return place === undefined
      ? null
      : (/^(.+)[\\/]\.git[\\/]worktrees[\\/][^\\/]+$/.exec(resolve(folder, place.trim()))?.[1] ?? null)
  } catch {
    // Evidence of a folder that cannot be read is still evidence.
    return null
  }
}

const UNTITLED = /[\\/]Workspaces[\\/]\d{13}[\\/]workspace\.json$/
const NAMES_MAX = 3

/**
 * The names of the folders of a workspace that was never saved, such as `shop, site`: Cursor lists them in a file of its own.
 * Null for any other root, and for a file that is gone or lists none.
 */
function readUntitledName({ uri, path }: Root): string | null {
  if (!uri.startsWith('file:///') || !isAbsolute(path) || !UNTITLED.test(path)) return null
  let text: string
  try {
    text = readRegular(path, BYTES_MAX).toString()
  } catch {
    return null
  }
  const folders = listIn(asRecord(parseJson(text)?.value), 'folders').map(asRecord)
  const names = folders.flatMap((folder) => filledStringIn(folder, 'path') ?? filledStringIn(folder, 'uri') ?? [])
  const shown = names.slice(0, NAMES_MAX).map((name) => basename(name.replaceAll('\\', '/')))
  return shown.length === 0 ? null : [...shown, ...(names.length > NAMES_MAX ? ['…'] : [])].join(', ')
}

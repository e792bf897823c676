import type { TouchedFile, TouchedFiles } from '../model/commit.ts'
import { UserError } from '../model/user-error.ts'
import { HARMLESS_DIFF } from './harmless.ts'
import { checked } from './list-commits.ts'
import type { ReadTokens } from './list-commits.ts'

/** A commit with more files adds a vendored tree or the like; its other files are of no interest. */
const FILES_MAX = 3000
/** Limit of git's rename detection, which compares all files with each other. */
const RENAMES_MAX = 400

const DIFF_TREE = ['diff-tree', '--stdin', '-r', '-z', '--root', '--name-status', ...HARMLESS_DIFF]
/** Prints each commit without parents, and whether a shallow clone cut it off. Branch and tag names are not printed. */
const ENDS: readonly string[] =
  'log --no-walk=unsorted --max-parents=0 --stdin -z --no-notes --no-show-signature --format=tformat:%H%x00%D'
    .split(' ')
    .concat('--decorate=full', '--decorate-refs=refs/none')

/**
 * The files that each commit changed compared with its parent. For a merge, these are the files that differ from all
 * parents, which were changed in the merge itself. A commit whose parents are missing here is left out.
 * @throws UserError as `gitTokens` does
 */
export async function listTouched(
  root: string,
  shas: readonly string[],
  readTokens: ReadTokens,
): Promise<Map<string, TouchedFiles>> {
  const requested = new Set(shas)
  for (const sha of await listCutOff(root, shas, readTokens)) requested.delete(sha)
  if (requested.size === 0) return new Map()
  const input = inputOf([...requested])
  const read = (renames: readonly string[]) =>
    readTouched(readTokens({ root, arguments: [...DIFF_TREE, '-c', ...renames], input }), requested)
  try {
    return await read(['--find-renames', `-l${RENAMES_MAX}`])
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== 'git-failed') throw error
    // A partial clone lacks file contents. Without them, only renames of unchanged files can be detected.
    return read(['--find-renames=100%', `-l${RENAMES_MAX}`])
  }
}

const inputOf = (shas: readonly string[]): string => shas.map((sha) => `${checked(sha)}\n`).join('')

/** At the end of a shallow clone, git shows commits without parents, as if they had added all files. */
async function listCutOff(root: string, shas: readonly string[], readTokens: ReadTokens): Promise<string[]> {
  const cutOff: string[] = []
  if (shas.length === 0) return cutOff
  let sha: string | null = null
  for await (const token of readTokens({ root, arguments: ENDS, input: inputOf(shas) })) {
    if (sha !== null && token === 'grafted') cutOff.push(sha)
    sha = sha === null ? token : null
  }
  return cutOff
}

/** The output has a sha for each commit, then a status and a path for each file, or two paths for a rename or copy. */
async function readTouched(
  tokens: AsyncGenerator<string, void>,
  requested: ReadonlySet<string>,
): Promise<Map<string, TouchedFiles>> {
  // Git does not print commits without changes.
  const touched = new Map([...requested].map((sha) => [sha, { files: new Array<TouchedFile>(), count: 0 }]))
  let current = { files: new Array<TouchedFile>(), count: 0 }
  let status: string | null = null
  let formerPath: string | null = null
  for await (const token of tokens) {
    if (status === null) {
      const next = touched.get(token)
      if (next === undefined) status = token
      else current = next
    } else if (/^[RC]\d/.test(status) && formerPath === null) {
      formerPath = token
    } else {
      // A copy does not change its origin.
      const file = { path: token, formerPath: status.startsWith('R') ? formerPath : null }
      if (current.files.length < FILES_MAX) current.files.push(file)
      current.count += 1
      status = null
      formerPath = null
    }
  }
  return touched
}

import type { TouchedFile, TouchedFiles } from '../model/commit.ts'
import { UserError } from '../model/user-error.ts'
import { HARMLESS_DIFF } from './harmless.ts'
import { checked } from './list-commits.ts'
import type { AskTokens } from './list-commits.ts'

/** A commit that brings in a vendored tree says no more by its remaining files. */
const FILES_MAX = 3000
/** Files of which each is compared with each for what was renamed. */
const RENAMES_MAX = 400

const DIFF_TREE = ['diff-tree', '--stdin', '-r', '-z', '--root', '--name-status', ...HARMLESS_DIFF]
/** Each commit without parents, and whether it is one that was cut off; names of branches and tags are not told. */
const ENDS: readonly string[] =
  'log --no-walk=unsorted --max-parents=0 --stdin -z --no-notes --no-show-signature --format=tformat:%H%x00%D'
    .split(' ')
    .concat('--decorate=full', '--decorate-refs=refs/none')

/**
 * By commit, what each changed: against its parent, and a merge what differs from all of them, which is what was done
 * in the merge itself. A commit of which that cannot be told, as its parents are not here, is left out.
 * @throws UserError as `gitTokens` does
 */
export async function listTouched(
  root: string,
  shas: readonly string[],
  ask: AskTokens,
): Promise<Map<string, TouchedFiles>> {
  const asked = new Set(shas)
  for (const sha of await listCutOff(root, shas, ask)) asked.delete(sha)
  if (asked.size === 0) return new Map()
  const input = inputOf([...asked])
  const read = (renames: readonly string[]) =>
    readTouched(ask({ root, arguments: [...DIFF_TREE, '-c', ...renames], input }), asked)
  try {
    return await read(['--find-renames', `-l${RENAMES_MAX}`])
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== 'git-failed') throw error
    // A partial clone lacks the files' contents, without which only files that moved unchanged are known again.
    return read(['--find-renames=100%', `-l${RENAMES_MAX}`])
  }
}

const inputOf = (shas: readonly string[]): string => shas.map((sha) => `${checked(sha)}\n`).join('')

/** Where a shallow clone ends, git shows commits without their parents, and all that there was as if they had made it. */
async function listCutOff(root: string, shas: readonly string[], ask: AskTokens): Promise<string[]> {
  const cutOff: string[] = []
  if (shas.length === 0) return cutOff
  let sha: string | null = null
  for await (const token of ask({ root, arguments: ENDS, input: inputOf(shas) })) {
    if (sha !== null && token === 'grafted') cutOff.push(sha)
    sha = sha === null ? token : null
  }
  return cutOff
}

/** A sha begins a commit; then come a status and its path, or two paths where it tells of a new name. */
async function readTouched(
  tokens: AsyncGenerator<string, void>,
  asked: ReadonlySet<string>,
): Promise<Map<string, TouchedFiles>> {
  // What changed nothing is not told at all.
  const touched = new Map([...asked].map((sha) => [sha, { files: new Array<TouchedFile>(), count: 0 }]))
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
      // A copy leaves its origin as it was.
      const file = { path: token, formerPath: status.startsWith('R') ? formerPath : null }
      if (current.files.length < FILES_MAX) current.files.push(file)
      current.count += 1
      status = null
      formerPath = null
    }
  }
  return touched
}

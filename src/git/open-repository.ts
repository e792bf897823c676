import { stat } from 'node:fs/promises'
import type { Repository } from '../model/commit.ts'
import { UserError } from '../model/user-error.ts'
import type { GitCall } from './run-git.ts'

export type ReadLines = (call: GitCall) => Promise<string[]>

/** The branches with the latest commits. Further ones are not listed. */
const BRANCHES_MAX = 2000

/**
 * The repository that contains a folder.
 * @throws UserError `repo-missing` if there is no such folder, else as `gitTokens` does
 */
export async function openRepository(root: string, readLines: ReadLines): Promise<Repository> {
  if (!(await isFolder(root))) {
    throw new UserError(
      'repo-missing',
      `There is no folder ${root} on this machine.`,
      'Name a project whose folder still exists.',
    )
  }
  const [topLevel = root, prefix = ''] = await readLines({
    root,
    arguments: ['rev-parse', '--show-toplevel', '--show-prefix'],
  })
  const heads = ['for-each-ref', `--count=${BRANCHES_MAX}`, '--sort=-committerdate']
  const format = '--format=%(objecttype) %(objectname) %(refname)'
  const [lines, head] = await Promise.all([
    readLines({ root, arguments: [...heads, format, 'refs/heads/'] }),
    readHead(root, readLines),
  ])
  const branches = lines.flatMap((line): [string, string][] => {
    const [, sha, name] = /^commit ([\da-f]+) refs\/heads\/(.+)$/.exec(line) ?? []
    return sha === undefined || name === undefined ? [] : [[name, sha]]
  })
  return { root, topLevel, prefix, head, branches: new Map(branches) }
}

/** Null if there is no commit yet: git then fails without a message. */
async function readHead(root: string, readLines: ReadLines): Promise<string | null> {
  try {
    return (await readLines({ root, arguments: ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'] }))[0] ?? null
  } catch (error) {
    if (error instanceof UserError && error.code === 'git-silent') return null
    throw error
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    // The folder does not exist or is not accessible.
    return false
  }
}

import { posix } from 'node:path'
import type { Histories, Repository } from '../../model/commit.ts'
import { UserError } from '../../model/user-error.ts'
import type { ProjectRoot } from '../queries/projects/project-roots.ts'

/** A project with a readable history. */
export interface OpenedRepository {
  readonly root: ProjectRoot
  readonly repository: Repository
  /** The top folder of the repository, in all known spellings. */
  readonly tops: readonly string[]
}

/** Opens the repositories of these projects. A repository is opened once, even if several projects share it. */
export async function openRepositories(roots: readonly ProjectRoot[], histories: Histories) {
  const opened = new Map<string, OpenedRepository>()
  const troubles: UserError[] = []
  for (const root of roots) {
    try {
      const repository = await histories.open(localFolder(root))
      const key = `${repository.topLevel}\0${repository.prefix}`
      if (!opened.has(key)) opened.set(key, { root, repository, tops: topsOf(repository) })
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      troubles.push(error)
    }
  }
  return { opened: [...opened.values()], troubles }
}

/** Whether the files of a project are on this machine. */
export const isHere = ({ remote, uri }: ProjectRoot): boolean => remote === null && uri.startsWith('file:///')

/** @throws UserError `repo-remote` if the files are on another machine: git only runs on this one */
function localFolder(root: ProjectRoot): string {
  if (isHere(root)) return folderOf(root.path) || '/'
  const { project, uri, remote } = root
  const where = remote === null ? uri : `${remote.kind} ${remote.host ?? ''}`.trim()
  const text = `The files of ${project.name} are not on this machine (${where}), and git runs only here.`
  throw new UserError('repo-remote', text, 'Run git on the machine that has the repository.')
}

/** For a workspace file of several folders, the folder of that file. */
export const folderOf = (path: string): string => path.replace(/[\\/][^\\/]+\.code-workspace$/, '')

/** Git resolves symbolic links, but Cursor stores the path with which the folder was opened. */
function topsOf({ root, topLevel, prefix }: Repository): readonly string[] {
  const opened = cleanFolder(root)
  const below = folded(prefix).replace(/\/$/, '')
  const isPlain = below === '' || opened.endsWith(`/${below}`)
  const top = below === '' ? opened : opened.slice(0, -below.length - 1) || '/'
  return [...new Set([...(isPlain ? [top] : []), folded(slashed(topLevel))])]
}

/**
 * Converts a path from a chat to a path as in git.
 * @param root the folder of the chat's project, as Cursor writes it. Relative paths start there
 * @returns null if the path is outside the repository
 */
export function repositoryPath(path: string, root: string, tops: readonly string[]): string | null {
  const named = slashed(path, hasBackslashes.test(root))
  const absolute = /^(?:\/|[a-z]:\/)/i.test(named) ? named : `${slashed(root)}/${named}`
  const clean = folded(posix.normalize(absolute))
  const start = tops.map(withSlash).find((each) => clean.startsWith(each))
  return start === undefined ? null : clean.slice(start.length)
}

/** Whether a folder is the top folder of the repository or inside it. */
export const liesIn = (root: string, tops: readonly string[]): boolean =>
  tops.some((top) => withSlash(cleanFolder(root)).startsWith(withSlash(top)))

/** A path of git in the form used for comparison. The top folder shows whether the file system ignores case. */
export const gitPath = (path: string, tops: readonly string[]): string =>
  folded(
    path,
    tops.some((top) => /^[a-z]:/.test(top)),
  )

const withSlash = (folder: string): string => (folder === '/' ? '/' : `${folder}/`)

const cleanFolder = (path: string): string => folded(posix.normalize(slashed(path))).replace(/(?<=.)\/+$/, '')

/** The beginning of an absolute Windows path. */
const hasBackslashes = /^(?:[a-z]:[\\/]|\/[a-z]:\/|\\\\)/i

/** `/c:/shop` and `C:\shop` are the same folder. */
const slashed = (path: string, isOnWindows = hasBackslashes.test(path)): string =>
  isOnWindows ? path.replaceAll('\\', '/').replace(/^\/(?=[a-z]:)/i, '') : path.replace(/^\.\//, '')

/** macOS stores accents separately from their letters. Windows ignores case. */
function folded(path: string, isWithoutCase = /^[a-z]:\//i.test(path)): string {
  const composed = path.normalize('NFC')
  return isWithoutCase ? composed.toLowerCase() : composed
}

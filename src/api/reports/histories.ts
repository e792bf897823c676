import type { Commit, CommitList, Repository, TouchedFiles } from '../../model/commit.ts'
import { UserError } from '../../model/user-error.ts'
import type { ProjectRoot } from '../queries/projects/project-roots.ts'
import { placeOf, type RepositoryPlace } from './repository-paths.ts'

/** Reads the histories of repositories. @throws UserError if a history cannot be read, with the reason */
export interface Histories {
  /** @param root a project's folder on this machine */
  open(root: string): Promise<Repository>
  /** @param period `sinceMs`: nothing older; `alsoFrom`: a commit to start from, even if no branch leads to it */
  list(
    repository: Repository,
    period: { readonly sinceMs: number | null; readonly alsoFrom: string | null },
  ): Promise<CommitList>
  /** @param digits first hex digits of a sha, in lower case. @returns null if none or several commits begin with them */
  find(repository: Repository, digits: string): Promise<Commit | null>
  /** Files by commit. Commits with unknown files are left out. */
  touched(repository: Repository, shas: readonly string[]): Promise<ReadonlyMap<string, TouchedFiles>>
}

/** A project with a readable history. */
export interface OpenedRepository {
  readonly root: ProjectRoot
  readonly repository: Repository
  readonly place: RepositoryPlace
}

export interface Opening {
  readonly opened: readonly OpenedRepository[]
  /** Why other repositories could not be opened. */
  readonly troubles: readonly UserError[]
}

/** Opens the repositories of these projects. A repository is opened once, even if several projects share it. */
export async function openRepositories(roots: readonly ProjectRoot[], histories: Histories): Promise<Opening> {
  const opened = new Map<string, OpenedRepository>()
  const troubles: UserError[] = []
  for (const root of roots) {
    try {
      const repository = await histories.open(localFolder(root))
      const key = `${repository.topLevel}\0${repository.prefix}`
      if (!opened.has(key)) opened.set(key, { root, repository, place: placeOf(repository) })
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      troubles.push(error)
    }
  }
  return { opened: [...opened.values()], troubles }
}

/** @throws UserError `repo-remote` if the files are on another machine: git only runs on this one */
function localFolder({ project, path, uri, remote }: ProjectRoot): string {
  if (remote === null && uri.startsWith('file:///')) return path.replace(/[\\/][^\\/]+\.code-workspace$/, '') || '/'
  const where = remote === null ? uri : `${remote.kind} ${remote.host ?? ''}`.trim()
  const text = `The files of ${project.name} are not on this machine (${where}), and git runs only here.`
  throw new UserError('repo-remote', text, 'Run git on the machine that has the repository.')
}

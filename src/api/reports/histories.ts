import type { Commit, CommitList, Repository, TouchedFiles } from '../../model/commit.ts'
import { UserError } from '../../model/user-error.ts'
import type { ProjectRoot } from '../queries/projects/project-roots.ts'
import { placeOf, type RepositoryPlace } from './repository-paths.ts'

/** Who can read the history of a repository. What cannot be read is a UserError that says why. */
export interface Histories {
  /** @param root folder of a project on this machine */
  open(root: string): Promise<Repository>
  /** @param stretch `sinceMs`: nothing older; `alsoFrom`: a commit to begin at where no branch leads to it */
  list(
    repository: Repository,
    stretch: { readonly sinceMs: number | null; readonly alsoFrom: string | null },
  ): Promise<CommitList>
  /** @param digits first hex digits of a sha, lower case. @returns null where none or several begin so */
  find(repository: Repository, digits: string): Promise<Commit | null>
  /** Files by commit; a commit of which they are not known is left out. */
  touched(repository: Repository, shas: readonly string[]): Promise<ReadonlyMap<string, TouchedFiles>>
}

/** A project whose history can be asked for. */
export interface OpenedRepository {
  readonly root: ProjectRoot
  readonly repository: Repository
  readonly place: RepositoryPlace
}

export interface Opening {
  readonly opened: readonly OpenedRepository[]
  /** Why others could not be. */
  readonly troubles: readonly UserError[]
}

/** Opens the repositories of these projects, each once, however many projects lie at one place. */
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

/** @throws UserError `repo-remote` where the files are elsewhere: git is called on this machine alone */
function localFolder({ project, path, uri, remote }: ProjectRoot): string {
  if (remote === null && uri.startsWith('file:///')) return path.replace(/[\\/][^\\/]+\.code-workspace$/, '') || '/'
  const where = remote === null ? uri : `${remote.kind} ${remote.host ?? ''}`.trim()
  const text = `The files of ${project.name} are not on this machine (${where}), and git is asked only here.`
  throw new UserError('repo-remote', text, 'Ask git on the machine that holds the repository.')
}

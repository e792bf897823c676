import type { Commit, CommitList, Repository, TouchedFiles } from '../model/commit.ts'
import type { Environment } from './harmless.ts'
import { findCommit, listCommits } from './list-commits.ts'
import type { Stretch } from './list-commits.ts'
import { listTouched } from './list-touched.ts'
import { openRepository } from './open-repository.ts'
import { gitLines, gitTokens } from './run-git.ts'
import type { GitCall, GitWorld } from './run-git.ts'

/** A call takes longer only if a disk hangs, or if the repository was built to cause that. */
const WITHIN_MS = 10_000
/** How many git processes run at a time. Further calls wait. */
const RUNNING_MAX = 2

/** Reads the histories of repositories by calling git. It runs no program that a repository names. */
export class Histories {
  readonly #world: GitWorld
  readonly #stop = new AbortController()
  readonly #waiting: (() => void)[] = []
  #running = 0

  /**
   * @param env environment of this process; see `harmlessEnvironment` for what git gets of it
   * @param withinMs time limit for one call of git
   */
  constructor(env: Environment, withinMs = WITHIN_MS) {
    this.#world = { env, stop: this.#stop.signal, withinMs }
  }

  open(root: string): Promise<Repository> {
    return openRepository(root, (call) => this.#lines(call))
  }

  list(repository: Repository, stretch: Stretch): Promise<CommitList> {
    return listCommits(repository, stretch, (call) => this.#tokens(call))
  }

  find({ root }: Repository, digits: string): Promise<Commit | null> {
    return findCommit(root, digits, (call) => this.#tokens(call))
  }

  touched({ root }: Repository, shas: readonly string[]): Promise<ReadonlyMap<string, TouchedFiles>> {
    return listTouched(root, shas, (call) => this.#tokens(call))
  }

  /** The address from which the repository of a folder was cloned. @throws UserError if there is none */
  async remote(root: string): Promise<string | null> {
    return (await this.#lines({ root, arguments: ['config', '--get', 'remote.origin.url'] }))[0] ?? null
  }

  /** Kills all running git processes. */
  close(): void {
    this.#stop.abort()
  }

  async *#tokens(call: GitCall): AsyncGenerator<string, void> {
    await this.#enter()
    try {
      yield* gitTokens(call, this.#world)
    } finally {
      this.#leave()
    }
  }

  async #lines(call: GitCall): Promise<string[]> {
    await this.#enter()
    try {
      return await gitLines(call, this.#world)
    } finally {
      this.#leave()
    }
  }

  async #enter(): Promise<void> {
    if (this.#running < RUNNING_MAX) this.#running += 1
    else await new Promise<void>((resume) => this.#waiting.push(resume))
  }

  /** The next waiting call starts in the order of arrival. */
  #leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#running -= 1
    else next()
  }
}

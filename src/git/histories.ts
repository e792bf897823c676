import type { Commit, CommitList, Repository, TouchedFiles } from '../model/commit.ts'
import type { Environment } from './harmless.ts'
import { findCommit, listCommits } from './list-commits.ts'
import type { Stretch } from './list-commits.ts'
import { listTouched } from './list-touched.ts'
import { openRepository } from './open-repository.ts'
import { gitLines, gitTokens } from './run-git.ts'
import type { GitCall, GitWorld } from './run-git.ts'

/** A question takes longer only where a disk hangs, or where somebody means it to. */
const WITHIN_MS = 10_000
/** So many processes of git at a time; further questions wait. */
const RUNNING_MAX = 2

/** Reads histories of repositories by calling git, and runs nothing that a repository names. */
export class Histories {
  readonly #world: GitWorld
  readonly #stop = new AbortController()
  readonly #waiting: (() => void)[] = []
  #running = 0

  /**
   * @param env of this process; git is told of it only where it is installed
   * @param withinMs how long git may take for one question
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

  /** Ends whatever git is at. */
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

  /** The place goes to whoever waits longest. */
  #leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#running -= 1
    else next()
  }
}

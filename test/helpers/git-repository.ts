import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { devNull, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

interface CommitPlan {
  /** Author date in epoch milliseconds; also the committer date by default. */
  readonly atMs: number
  readonly committedAtMs?: number
  /** File contents by path; null removes the file. */
  readonly files?: Readonly<Record<string, string | null>>
  readonly subject?: string
  /** In git's format: `+0200`. */
  readonly zone?: string
  readonly isAmended?: boolean
}

/** A real repository in a temporary folder, created by git itself. */
export class GitRepository {
  readonly root: string

  constructor(root: string = realpathSync(mkdtempSync(join(tmpdir(), 'cursordex-repo-')))) {
    this.root = root
    mkdirSync(root, { recursive: true })
    this.git(['init', '--quiet', '--initial-branch=main'])
  }

  /** Git's output without the last line end. */
  git(words: readonly string[], env: Readonly<Record<string, string>> = {}, input = ''): string {
    const people = { NAME: 'Ada', EMAIL: 'ada@example.org' }
    const told = Object.entries(people).flatMap(([key, value]) =>
      ['AUTHOR', 'COMMITTER'].map((who) => [`GIT_${who}_${key}`, value]),
    )
    return execFileSync('git', ['-C', this.root, ...words], {
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'pipe'],
      input,
      env: {
        PATH: process.env['PATH'],
        GIT_CONFIG_GLOBAL: devNull,
        GIT_CONFIG_NOSYSTEM: '1',
        ...Object.fromEntries(told),
        ...env,
      },
    }).trimEnd()
  }

  write(path: string, text: string | Buffer): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true })
    writeFileSync(join(this.root, path), text)
  }

  /** @returns the sha */
  commit({ atMs, committedAtMs = atMs, files = {}, subject = 'work', zone = '+0000', isAmended }: CommitPlan): string {
    for (const [path, text] of Object.entries(files)) {
      if (text === null) rmSync(join(this.root, path))
      else this.write(path, text)
    }
    this.git(['add', '--all'])
    const words = ['commit', '--quiet', '--allow-empty', '--no-verify', '--message', subject]
    const dates = {
      GIT_AUTHOR_DATE: `@${Math.floor(atMs / 1000)} ${zone}`,
      GIT_COMMITTER_DATE: `@${Math.floor(committedAtMs / 1000)} ${zone}`,
    }
    this.git([...words, ...(isAmended === true ? ['--amend', `--date=${dates.GIT_AUTHOR_DATE}`] : [])], dates)
    return this.git(['rev-parse', 'HEAD'])
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true })
  }
}

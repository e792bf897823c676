import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { devNull } from 'node:os'
import type { PackedCommit } from './packed.ts'

/** Makes a real repository with these commits. Without git the demo has no commits. @param env of this process */
export function makeRepository(
  root: string,
  commits: readonly PackedCommit[],
  env: Readonly<Record<string, string | undefined>>,
): void {
  const git = (words: readonly string[], input = ''): void => {
    const own = { ...env, GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' }
    execFileSync('git', ['-C', root, ...words], { input, stdio: ['pipe', 'ignore', 'ignore'], env: own })
  }
  mkdirSync(root)
  try {
    git(['init', '--quiet'])
    git(['symbolic-ref', 'HEAD', 'refs/heads/main'])
    git(['fast-import', '--quiet'], commits.map(commitText).join(''))
    git(['reset', '--quiet', '--hard'])
  } catch {
    // Git is not installed, or it refused.
  }
}

/** A commit in the language of `git fast-import`, in which each commit of a branch follows the one before. */
function commitText({ atMs, subject, path, text }: PackedCommit): string {
  const committer = `committer Ada <ada@example.org> ${Math.floor(atMs / 1000)} +0000`
  return `commit refs/heads/main\n${committer}\n${data(subject)}M 100644 inline ${path}\n${data(text)}`
}

const data = (content: string): string => `data ${Buffer.byteLength(content)}\n${content}\n`

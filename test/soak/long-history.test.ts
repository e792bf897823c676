import { execFileSync } from 'node:child_process'
import { expect, onTestFinished, test } from 'vitest'
import { Histories } from '../../src/git/histories.ts'
import { GitRepository } from '../helpers/git-repository.ts'

const whole = { sinceMs: null, alsoFrom: null }
const AT_MS = Date.UTC(2026, 2, 1, 12)

test('a history above the limit is reported as cut if the period may contain more commits', async () => {
  const repository = new GitRepository()
  const histories = new Histories(process.env)
  onTestFinished(() => {
    histories.close()
    repository.remove()
  })
  const commits = Array.from({ length: 50_001 }, (_, n) => {
    const from = n === 0 ? '' : `from :${n}\n`
    return `commit refs/heads/main\nmark :${n + 1}\ncommitter A <a@b> ${AT_MS / 1000 + n} +0000\ndata 1\nx\n${from}\n`
  })
  execFileSync('git', ['-C', repository.root, 'fast-import', '--quiet'], { input: commits.join('') })
  const opened = await histories.open(repository.root)
  const all = await histories.list(opened, whole)
  expect([all.commits.length, all.isWhole]).toEqual([50_000, false])
  const recent = await histories.list(opened, { ...whole, sinceMs: AT_MS + 50_000_000 })
  expect([recent.commits.length, recent.isWhole]).toEqual([1, true])
})

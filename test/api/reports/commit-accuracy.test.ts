import { execFileSync } from 'node:child_process'
import { devNull } from 'node:os'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { CommitWorld } from '../../helpers/commit-world.ts'
import { GitRepository } from '../../helpers/git-repository.ts'
import { importHistory } from '../../helpers/import-history.ts'
import { planHistory } from '../../helpers/plan-history.ts'
import type { KnownChat, PlainCommit } from '../../helpers/plan-history.ts'

const checkout = fileURLToPath(new URL('../../..', import.meta.url)).replace(/[\\/]$/, '')
const COMMITS_MIN = 30

/** Reads commits with plain git, one by one, without using the program. */
function plainHistory(root: string): PlainCommit[] {
  // Ignores the machine's git config as the program does, so that both read the same.
  const env = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' }
  const git = (...words: string[]) =>
    execFileSync('git', ['-C', root, ...words], { encoding: 'utf8', stdio: 'pipe', env })
  // A copy of this project may be inside another repository.
  if (git('rev-parse', '--show-prefix').trim() !== '') return []
  const lines = git('rev-list', '--branches', 'HEAD', '--parents', '--date=unix', '--format=%ad').trim().split('\n')
  return lines.flatMap((line, index) => {
    const [sha, ...parents] = line.startsWith('commit ') ? line.slice('commit '.length).split(' ') : []
    if (sha === undefined) return []
    const files = git('diff-tree', '--no-commit-id', '-r', '--root', '--name-only', '-c', sha).split('\n')
    return [{ sha, parents, atMs: Number(lines[index + 1]) * 1000, files: files.filter((file) => file !== '') }]
  })
}

/** The history of this project; null in a copy without one, or in a shallow clone. */
function ownHistory(): PlainCommit[] | null {
  try {
    const commits = plainHistory(checkout)
    return commits.length < COMMITS_MIN ? null : commits
  } catch {
    return null
  }
}

interface Score {
  readonly precision: number
  readonly recall: number
}

const levels = ['high', 'medium', 'low'] as const

/** Matches known chats with a history. Counts precision and recall at each confidence. */
async function scoresOf(root: string, chats: readonly KnownChat[]): Promise<Readonly<Record<string, Score>>> {
  const world = new CommitWorld()
  try {
    world.index({ own: pathToFileURL(root).href, other: 'file:///home/ada/other' }, chats)
    const truth = new Set(chats.flatMap(({ id, truth: shas }) => [...shas].map((sha) => `${id} ${sha}`)))
    const scores: Record<string, Score> = {}
    for (const confidence of levels) {
      const found = await pairsOf(world, { repo: root, confidence })
      const right = found.filter((pair) => truth.has(pair)).length
      scores[confidence] = { precision: right / found.length, recall: right / truth.size }
    }
    return scores
  } finally {
    world.remove()
  }
}

async function pairsOf(world: CommitWorld, query: Readonly<Record<string, string>>): Promise<string[]> {
  const pairs: string[] = []
  for (let offset = 0; ; offset += 200) {
    const { items, warnings } = await world.commits({ ...query, offset: String(offset) })
    expect(warnings).toEqual([])
    pairs.push(...items.flatMap(({ sha, chats }) => chats.map(({ id }) => `${id} ${sha}`)))
    if (items.length < 200) return pairs
  }
}

function tell(what: string, commits: readonly PlainCommit[], chats: readonly KnownChat[], scores: object): void {
  const stories = [...new Set(chats.map(({ story }) => story))].sort()
  const counts = stories.map((each) => `${chats.filter(({ story }) => story === each).length} ${each}`)
  const percent = (part: number) => `${(part * 100).toFixed(1)} %`
  const lines = Object.entries(scores as Record<string, Score>).map(
    ([level, { precision, recall }]) =>
      `  ${level.padEnd(6)} precision ${percent(precision)}, recall ${percent(recall)}`,
  )
  console.log(`commits of ${what}: ${commits.length}, chats: ${counts.join(', ')}\n${lines.join('\n')}`)
}

type Floors = Readonly<Record<(typeof levels)[number], Score>>

/**
 * Chats with advice edit no files, so they are found only by time. In our own history several people commit at the same
 * time and most windows overlap. There, time alone is weak evidence.
 */
const OWN: Floors = {
  high: { precision: 0.88, recall: 0.65 },
  medium: { precision: 0.88, recall: 0.78 },
  low: { precision: 0.15, recall: 0.93 },
}
const GENERATED: Floors = {
  high: { precision: 0.97, recall: 0.75 },
  medium: { precision: 0.97, recall: 0.85 },
  low: { precision: 0.6, recall: 0.97 },
}

function belowFloors(scores: Readonly<Record<string, Score>>, floors: Floors): string[] {
  return levels.flatMap((level) => {
    const { precision, recall } = scores[level] ?? { precision: 0, recall: 0 }
    const isBelow = precision < floors[level].precision || recall < floors[level].recall
    return isBelow ? [`${level}: precision ${precision}, recall ${recall}`] : []
  })
}

test('commits of this project are matched to chats with known answers', async () => {
  const own = ownHistory()
  const repository = own === null ? new GitRepository() : null
  try {
    if (repository !== null) importHistory(repository, 120, 'in place of our own')
    const root = repository?.root ?? checkout
    const commits = own ?? plainHistory(root)
    const chats = planHistory(commits, 'own history')
    const scores = await scoresOf(root, chats)
    tell(
      own === null ? 'a generated repository, for this checkout has no history' : 'this project',
      commits,
      chats,
      scores,
    )
    expect(belowFloors(scores, OWN)).toEqual([])
  } finally {
    repository?.remove()
  }
})

test('commits of a generated repository are matched to chats with known answers', async () => {
  const repository = new GitRepository()
  try {
    importHistory(repository, 250, 'people at work')
    const commits = plainHistory(repository.root)
    const chats = planHistory(commits, 'their chats')
    const scores = await scoresOf(repository.root, chats)
    tell('a generated repository', commits, chats, scores)
    expect(belowFloors(scores, GENERATED)).toEqual([])
  } finally {
    repository.remove()
  }
})

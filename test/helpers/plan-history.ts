import { Chance } from './cursor.ts'
import type { Act, PlannedChat } from './commit-world.ts'

/** A commit from plain git, read independently of the tested program. */
export interface PlainCommit {
  readonly sha: string
  readonly parents: readonly string[]
  /** Author date in epoch milliseconds. */
  readonly atMs: number
  readonly files: readonly string[]
}

/** How a chat relates to commits, which decides the expected evidence. */
export type Story = 'worked' | 'waited' | 'long' | 'advised' | 'strayed' | 'chatted' | 'read' | 'abroad'

export interface KnownChat extends PlannedChat {
  readonly story: Story
  /** The commits that came from it. */
  readonly truth: ReadonlySet<string>
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/**
 * Number of chats of each kind for ten commits. Half of the work is ordinary work in a chat. Sometimes a commit
 * follows on the next day, or a chat only discusses it; and some chats are about other things.
 */
const MIX: readonly [Story, ...Story[]] = [
  'worked',
  ...(['worked', 'worked', 'worked', 'worked', 'long', 'waited', 'waited'] as const),
  ...(['advised', 'strayed', 'chatted', 'read', 'abroad'] as const),
]

/** Chats about a history, each with its commits. The same seed gives the same chats. */
export function planHistory(commits: readonly PlainCommit[], seed: string): KnownChat[] {
  const chance = new Chance(seed)
  const ordered = commits.toSorted((left, right) => left.atMs - right.atMs)
  const history: History = { commits: ordered, bySha: new Map(ordered.map((commit) => [commit.sha, commit])), chance }
  return ordered.flatMap((_, at) => {
    const story = chance.pick(MIX)
    const plan = tellStory(story, at, history)
    const branch = chance.between(1, 3) === 1 ? { branch: 'main' } : {}
    return plan === null
      ? []
      : [{ id: `${story}-${at}`, title: `${story} ${at}`, project: 'own', story, ...branch, ...plan }]
  })
}

interface History {
  readonly commits: readonly PlainCommit[]
  readonly bySha: ReadonlyMap<string, PlainCommit>
  readonly chance: Chance
}

type Told = { readonly acts: readonly Act[]; readonly truth: ReadonlySet<string>; readonly project?: string } | null

function tellStory(story: Story, at: number, history: History): Told {
  const { commits, chance } = history
  const commit = commits[at]
  if (commit === undefined) return null
  const time = workTime(commit, history)
  if (time === null || commit.files.length === 0) return null
  const truth = new Set([commit.sha])
  const some = (files: readonly string[]) =>
    files.filter((_, index) => index === 0 || chance.between(1, 2) === 1).slice(0, 6)
  const edits = (files: readonly string[], within: Span): Act[] => spread([null, ...some(files), null], within, chance)
  if (story === 'worked') return { acts: edits(commit.files, time), truth }
  if (story === 'advised') return { acts: spread([null, null, null], time, chance), truth }
  if (story === 'chatted') return { acts: spread([null, null, null], time, chance), truth: new Set() }
  if (story === 'abroad') return { acts: edits(commit.files, time), truth: new Set(), project: 'other' }
  if (story === 'read') {
    const acts = edits(commit.files, time).map(({ atMs, edits: reads }) => ({
      atMs,
      ...(reads === undefined ? {} : { reads }),
    }))
    return { acts, truth: new Set() }
  }
  if (story === 'strayed') return strayed(commit, time, history)
  return story === 'waited' ? waited(at, history) : long(at, history)
}

interface Span {
  readonly fromMs: number
  readonly toMs: number
}

/** A time between a commit and its parent, at most half an hour before; null if there was no time for a chat. */
function workTime(commit: PlainCommit, { bySha }: History): Span | null {
  const parents = commit.parents.flatMap((sha) => bySha.get(sha)?.atMs ?? []).filter((atMs) => atMs < commit.atMs)
  const fromMs = Math.max(commit.atMs - 28 * MINUTE_MS, ...parents.map((atMs) => atMs + 2000))
  return commit.atMs - fromMs < 20_000 ? null : { fromMs, toMs: commit.atMs - 1000 }
}

function spread(files: readonly (string | null)[], { fromMs, toMs }: Span, chance: Chance): Act[] {
  const times = files.map(() => chance.between(fromMs, toMs)).sort((left, right) => left - right)
  return files.map((edits, index) => ({ atMs: times[index] ?? fromMs, ...(edits === null ? {} : { edits }) }))
}

/** Work on a file that was not committed for a long time. */
function strayed(commit: PlainCommit, time: Span, { chance }: History): Told {
  const edits = `scratch/${commit.sha.slice(0, 8)}.txt`
  return { acts: spread([null, edits, null], time, chance), truth: new Set() }
}

/** Edits from hours ago, of files that were not committed in between. */
function waited(at: number, { commits, chance }: History): Told {
  const commit = commits[at]
  if (commit === undefined) return null
  const lastMs = commit.atMs - 2 * HOUR_MS
  const time = { fromMs: commit.atMs - 30 * HOUR_MS, toMs: lastMs }
  const between = commits.filter(({ atMs, sha }) => sha !== commit.sha && atMs >= time.fromMs && atMs <= commit.atMs)
  const taken = new Set(between.flatMap(({ files }) => files))
  const files = commit.files.filter((file) => !taken.has(file)).slice(0, 4)
  if (files.length === 0) return null
  return { acts: spread([null, ...files, null], time, chance), truth: new Set([commit.sha]) }
}

/** One chat for three consecutive commits. */
function long(at: number, history: History): Told {
  const { commits, chance } = history
  const led = commits.slice(at, at + 3).flatMap((commit) => {
    const time = workTime(commit, history)
    const [file] = commit.files
    return time === null || file === undefined ? [] : [{ commit, acts: spread([null, file], time, chance) }]
  })
  if (led.length === 0) return null
  const acts = led.flatMap((each) => each.acts).sort((left, right) => (left.atMs ?? 0) - (right.atMs ?? 0))
  return { acts, truth: new Set(led.map(({ commit }) => commit.sha)) }
}

import { Chance } from './chance.ts'
import type { CursorHome } from './cursor-home.ts'
import { writeChat } from './demo-home.ts'
import { planChat } from './plan-chat.ts'
import { edit, failed, read, run, say, user } from './script.ts'
import type { Step } from './script.ts'

export interface SampleCommit {
  readonly atMs: number
  readonly subject: string
  readonly files: Readonly<Record<string, string>>
}

const HOUR_MS = 3_600_000
const path = 'src/tides.ts'
const first = 'export const tideAt = (hour: number): number => Math.sin((hour * Math.PI) / 6)\n'
const second = 'export const tideAt = (hour: number): number => Math.sin((hour * Math.PI) / 6.21)\n'
const third = `${second}export const isHigh = (hour: number): boolean => tideAt(hour) > 0.9\n`

interface Work {
  readonly hoursAgo: number
  readonly title: string
  readonly steps: readonly Step[]
  readonly commit: Omit<SampleCommit, 'atMs'>
}

const works: readonly Work[] = [
  {
    hoursAgo: 30,
    title: 'Tides drift by an hour a day',
    steps: [
      user('High tide comes an hour too early after a day. Where is the error in tideAt?'),
      read(path, first),
      failed(
        run('npx vitest run', 'FAIL test/tides.test.ts\n  expected 12.42, got 12'),
        'Command failed with exit code 1',
      ),
      edit(path, `-${first.trimEnd()}`, `+${second.trimEnd()}`),
      run('npx vitest run', ' ✓ test/tides.test.ts (3 tests) 12ms'),
      say('A tide takes 12.42 hours and not 12. The divisor is 6.21 now, and the test that failed passes.'),
    ],
    commit: { subject: 'Use the real period of a tide', files: { [path]: second } },
  },
  {
    hoursAgo: 6,
    title: '添加高潮判断函数',
    steps: [
      user('请添加一个函数，判断某个小时是否是高潮。'),
      edit(path, `+${third.slice(second.length).trimEnd()}`),
      say('已添加 `isHigh`：潮位大于 0.9 时返回 true。'),
    ],
    commit: { subject: '添加 isHigh', files: { [path]: third } },
  },
]

/**
 * Writes chats about a repository that is really there, and returns its commits, oldest first. Each chat has one commit a few
 * minutes after its last message.
 * @param root the folder of the repository
 */
export function writeRepositoryChats(home: CursorHome, root: string, nowMs: number): SampleCommit[] {
  const chance = new Chance('repository')
  const store = home.global()
  const commits: SampleCommit[] = [{ atMs: nowMs - 50 * HOUR_MS, subject: 'First version', files: { [path]: first } }]
  const ids = works.map(({ hoursAgo, title, steps, commit }) => {
    const thread = { project: null, title, mode: 'agent', steps } as const
    const createdAtMs = nowMs - hoursAgo * HOUR_MS
    const slot = { thread, shape: 'split', build: 'new', createdAtMs, id: chance.uuid(), parentId: null } as const
    const plan = { ...planChat(slot, chance), isArchived: false, isNamed: true }
    writeChat(store, plan)
    commits.push({ ...commit, atMs: (plan.messages.at(-1)?.atMs ?? createdAtMs) + 180_000 })
    return plan.id
  })
  home.workspace(chance.hex(32), { folder: `file://${root}` }, ids)
  home.close()
  return commits
}

import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ArchiveRestored, ArchiveRun } from '../../../src/api/answers/archives.ts'
import type { Chat, ListedLoss } from '../../../src/api/answers/chats.ts'
import type { Page } from '../../../src/api/answers/common.ts'
import type { Project } from '../../../src/api/answers/projects.ts'
import type { Stats } from '../../../src/api/answers/stats.ts'
import type { Status } from '../../../src/api/answers/status.ts'
import type { TokensAnswer } from '../../../src/api/answers/tokens.ts'
import { headers } from '../../helpers/cursor.ts'
import { waitUntil } from '../../helpers/wait-until.ts'
import { ApiWorld, USAGE_FILE } from './api-world.ts'

/** One quantity by each answer that has it. */
type SameNumbers = Readonly<Record<string, number | undefined>>

/** What every version of Cursor wrote, and what was deleted, orphaned, left empty or never sent. */
const world = await ApiWorld.open({ eras: true })
afterAll(() => world.remove())

async function ask<Answer>(path: string): Promise<Answer> {
  const response = await world.ask('GET', path)
  expect([path, response.status]).toEqual([path, 200])
  return (await response.json()) as Answer
}

async function post<Answer>(path: string): Promise<Answer> {
  return (await (await world.ask('POST', path, '{}')).json()) as Answer
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

let quantities: Readonly<Record<string, SameNumbers>>

async function writeTheOdd(): Promise<void> {
  const store = world.home.global()
  world.home.workspace('unused', { folder: 'file:///home/user/unused' }, [])
  store.chat('empty', { name: 'Empty', createdAt: Date.UTC(2026, 0, 5), fullConversationHeadersOnly: [] })
  store.chat('draft', { name: 'Draft', isDraft: true, fullConversationHeadersOnly: headers(['d']) })
  store.message('draft', 'd', { type: 1, text: 'never sent' })
  store.chat('dropped', { name: 'Dropped', fullConversationHeadersOnly: headers(['a']) })
  store.message('dropped', 'a', { type: 1, text: 'kept in the list' })
  store.message('dropped', 'b', { type: 2, text: 'no longer in the list' })
  store.chat('gone', { name: 'Gone', fullConversationHeadersOnly: headers(['a', 'b', 'c']) })
  for (const id of ['a', 'b', 'c']) store.message('gone', id, { type: 1, text: `lost with its chat ${id}` })
  await world.indexer.pass('keys')
  for (const key of ['composerData:gone', 'bubbleId:gone:a', 'bubbleId:gone:b', 'bubbleId:gone:c']) store.delete(key)
  store.delete('bubbleId:login:edit')
  await world.indexer.pass('values')
}

async function archived(): Promise<{ run: ArchiveRun; restored: ArchiveRestored }> {
  const { name } = await post<ArchiveRun>('/api/archives')
  const read = (): Promise<ArchiveRun> => ask(`/api/archives/${name}`)
  await waitUntil('the archive', async () => (await read()).state !== 'running')
  return { run: await read(), restored: await post(`/api/archives/${name}/restore`) }
}

beforeAll(async () => {
  await writeTheOdd()
  await world.ask('POST', '/api/tokens/import', USAGE_FILE, 'text/csv')
  const chatsOf = (query: string): Promise<Page<Chat> & { undated?: number }> => ask(`/api/chats?limit=200${query}`)
  const tokensBy = (groupBy: string): Promise<TokensAnswer> => ask(`/api/tokens?groupBy=${groupBy}`)
  const { counts, losses } = await ask<Status>('/api/status')
  const [stats, ranged] = [await ask<Stats>('/api/stats'), await ask<Stats>('/api/stats?from=1970-01-02')]
  const tokens = await Promise.all(['day', 'week', 'month', 'project', 'model', 'chat'].map(tokensBy))
  const rangedTokens = await ask<TokensAnswer>('/api/tokens?from=1970-01-02')
  const [chats, all] = [await chatsOf(''), await chatsOf('&subagents=true')]
  const [dated, allDated] = [await chatsOf('&from=1970-01-02'), await chatsOf('&from=1970-01-02&subagents=true')]
  const projects = await ask<Page<Project>>('/api/projects?limit=200')
  const listed = await ask<Page<ListedLoss>>('/api/losses')
  const { run, restored } = await archived()
  const noProject = stats.byProject.find(({ id }) => id === null)
  quantities = {
    projects: {
      status: counts.projects,
      projects: projects.total,
      'stats and one without chats': stats.totals.projects + 1,
    },
    chats: {
      status: counts.chats,
      stats: stats.totals.chats,
      chats: chats.total,
      projects: sum(projects.items.map(({ chatCount }) => chatCount)) + (noProject?.chats ?? 0),
      archive: run.chats ?? -1,
      restored: restored.chats,
    },
    subagents: {
      status: counts.subagents,
      stats: stats.totals.subagents,
      chats: all.total - chats.total,
    },
    messages: {
      status: counts.messages,
      stats: stats.totals.messages,
      'series and what is in none':
        sum(stats.series.map(({ messages }) => messages)) + stats.undated.messages + stats.outOfSeries.messages,
      chats: sum(all.items.map(({ messageCount }) => messageCount)),
      projects: sum(projects.items.map(({ messageCount }) => messageCount)) + (noProject?.messages ?? 0),
      ...Object.fromEntries(
        tokens.flatMap(({ rows, totals, coverage }, index) => [
          [`tokens ${index}`, coverage.messages],
          [`totals of tokens ${index}`, totals.coverage.messages],
          [`rows of tokens ${index}`, sum(rows.map((row) => row.coverage.messages))],
        ]),
      ),
      'archive without the orphan and the draft': (run.messages ?? -1) - counts.orphans - 1,
      'restored without the orphan and the draft': restored.messages - counts.orphans - 1,
    },
    'messages without a time': {
      stats: stats.undated.messages,
      'stats of a range': ranged.undated.messages,
      'left out by a range': stats.totals.messages - ranged.totals.messages,
      'left out of tokens by a range': rangedTokens.undated.messages,
      'the same, counted': counts.messages - rangedTokens.coverage.messages,
      'row of tokens': tokens[0]?.rows.find(({ key }) => key === null)?.coverage.messages,
      ...Object.fromEntries(tokens.map(({ undated }, index) => [`tokens ${index}`, undated.messages])),
    },
    'chats without a time': {
      'left out by a range': chats.total - dated.total,
      named: dated.undated,
      listed: chats.items.filter(({ lastActivityAt }) => lastActivityAt === null).length,
    },
    'chats and subagents without a time': {
      'left out by a range': all.total - allDated.total,
      named: allDated.undated,
    },
    losses: {
      status: losses.chats + losses.messages,
      list: listed.total,
      'of any time': (await ask<Page<ListedLoss>>('/api/losses?from=1970-01-02')).total,
      'deleted messages, three of them in a chat that is one loss': counts.deleted - 2,
    },
    'imported rows': Object.fromEntries(
      tokens.map(({ imports, rows }, index) => [
        `tokens ${index}`,
        imports?.events === sum(rows.map(({ imported }) => imported?.events ?? 0)) ? imports.events : -1,
      ]),
    ),
  }
})

test.each([
  'projects',
  'chats',
  'subagents',
  'messages',
  'messages without a time',
  'chats without a time',
  'chats and subagents without a time',
  'losses',
  'imported rows',
])('%s: one number in all answers', (name) => {
  const numbers = quantities[name] ?? {}
  const [first = 0] = Object.values(numbers)
  expect(first).toBeGreaterThan(0)
  expect(numbers).toEqual(Object.fromEntries(Object.keys(numbers).map((where) => [where, first])))
})

test('a list of all chats names none as undated', async () => {
  expect(await ask('/api/chats')).not.toHaveProperty('undated')
})

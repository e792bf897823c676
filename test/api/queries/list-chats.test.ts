import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  CHATS_BY_ID_PREFIX,
  FIND_CHATS,
  listChats,
  scoresByIdPrefix,
} from '../../../src/api/queries/chats/list-chats.ts'
import type { ChatListRequest } from '../../../src/api/queries/chats/list-chats.ts'
import { seedMirror } from '../../helpers/seed-mirror.ts'
import type { SeededMirror } from '../../helpers/seed-mirror.ts'

const everything: ChatListRequest = {
  projectNums: null,
  machineNums: null,
  fromMs: null,
  toMs: null,
  modes: null,
  models: null,
  archived: null,
  deleted: null,
  subagents: false,
  includeEmpty: false,
  titleWords: null,
  scores: null,
  sort: null,
  limit: 20,
  offset: 0,
}

let mirror: SeededMirror
beforeEach(() => {
  mirror = seedMirror()
})
afterEach(() => mirror.dispose())

function ids(request: Partial<ChatListRequest>): string[] {
  const page = listChats(mirror.reader, { ...everything, ...request })
  expect(page.total).toBeGreaterThanOrEqual(page.items.length)
  return page.items.map((chat) => chat.id)
}

describe('which chats are listed', () => {
  beforeEach(() => {
    const project = mirror.addProject('shop')
    mirror.addChat({ id: 'plain', createdAt: 1, project })
    mirror.addChat({ id: 'draft', createdAt: 2, columns: { is_draft: 1 } })
    mirror.addChat({ id: 'empty', createdAt: 3, messageCount: 0 })
    mirror.addChat({ id: 'subagent', createdAt: 4, columns: { is_subagent: 1 } })
    mirror.addChat({ id: 'archived', createdAt: 5, columns: { is_archived: 1 } })
    mirror.addChat({ id: 'deleted', createdAt: 6, columns: { is_live: 0, deleted_at: 7 } })
    mirror.addChat({ id: 'asked', createdAt: 7, columns: { mode: 'ask', model: 'gpt-5' } })
    mirror.addChat({ id: 'mixed', createdAt: 8, columns: { mode: 'agent', models: '["gpt-5","sonnet"]' } })
  })
  const listed = ['mixed', 'asked', 'deleted', 'archived', 'plain']

  it.each<[string, Partial<ChatListRequest>, string[]]>([
    ['drafts, empty chats and subagents are left out', {}, listed],
    ['includeEmpty adds drafts and empty chats', { includeEmpty: true }, listed.toSpliced(4, 0, 'empty', 'draft')],
    ['subagents are added to the others', { subagents: true }, listed.toSpliced(4, 0, 'subagent')],
    ['archived only', { archived: true }, ['archived']],
    ['unarchived only', { archived: false }, ['mixed', 'asked', 'deleted', 'plain']],
    ['deleted only', { deleted: true }, ['deleted']],
    ['undeleted only', { deleted: false }, ['mixed', 'asked', 'archived', 'plain']],
    ['a mode', { modes: ['ask'] }, ['asked']],
    ['either mode', { modes: ['ask', 'agent'] }, ['mixed', 'asked']],
    ['a model that is the last or one of several', { models: ['gpt-5'] }, ['mixed', 'asked']],
    ['a model among several', { models: ['sonnet'] }, ['mixed']],
    ['a project', { projectNums: [1] }, ['plain']],
    ['an unknown project', { projectNums: [] }, []],
    ['an unknown machine', { machineNums: [] }, []],
  ])('%s', (_claim, request, expected) => {
    expect(ids(request)).toEqual(expected)
    expect(listChats(mirror.reader, { ...everything, ...request }).total).toBe(expected.length)
  })
})

it('a period has the chats that were active in it; its start is inclusive and its end exclusive', () => {
  mirror.addChat({ id: 'before', createdAt: 100, lastActivityAt: 199 })
  mirror.addChat({ id: 'into', createdAt: 100, lastActivityAt: 200 })
  mirror.addChat({ id: 'across', createdAt: 100, lastActivityAt: 900 })
  mirror.addChat({ id: 'late', createdAt: 299, lastActivityAt: 299 })
  mirror.addChat({ id: 'after', createdAt: 300, lastActivityAt: 400 })
  mirror.addChat({ id: 'unknown', createdAt: null })
  expect(ids({ fromMs: 200, toMs: 300 }).sort()).toEqual(['across', 'into', 'late'])
  expect(ids({ fromMs: 200 })).not.toContain('unknown')
  expect(ids({ toMs: 300 })).not.toContain('unknown')
})

it('a chat with only a last activity, or with a wrong start, is in the period of its last activity', () => {
  mirror.addChat({ id: 'tab', createdAt: null, lastActivityAt: 250 })
  mirror.addChat({ id: 'ahead', createdAt: 900, lastActivityAt: 250 })
  expect(ids({ toMs: 300 }).sort()).toEqual(['ahead', 'tab'])
  expect(ids({ fromMs: 200, toMs: 300 }).sort()).toEqual(['ahead', 'tab'])
  expect(ids({ toMs: 250 })).toEqual([])
})

describe('the order of chats', () => {
  beforeEach(() => {
    mirror.addChat({ id: 'a', createdAt: 10, messageCount: 3, columns: { size_bytes: 5 } })
    mirror.addChat({ id: 'b', createdAt: 30, messageCount: 1, columns: { size_bytes: 9 } })
    mirror.addChat({ id: 'c', createdAt: null, messageCount: 2, columns: { size_bytes: 7 } })
    mirror.addChat({ id: 'd', createdAt: 20, messageCount: 4, columns: { size_bytes: 1 } })
  })

  it.each([
    ['newest', ['b', 'd', 'a', 'c']],
    ['oldest', ['a', 'd', 'b', 'c']],
    ['size', ['b', 'c', 'a', 'd']],
    ['messages', ['d', 'a', 'c', 'b']],
  ] as const)('%s', (sort, expected) => {
    expect(ids({ sort })).toEqual(expected)
    expect(ids({ sort, limit: 2, offset: 1 })).toEqual(expected.slice(1, 3))
  })

  it('the newest chats come from an index without sorting', () => {
    const filter = Object.fromEntries(
      'includeEmpty subagents archived deleted projects modes models machines fromMs toMs matches limit offset'
        .split(' ')
        .map((name) => [name, 1]),
    )
    const plan = mirror.reader
      .prepare<[object], { detail: string }>(`explain query plan ${FIND_CHATS.newest}`)
      .all(filter)
    const details = plan.map((step) => step.detail)
    expect(details).toContainEqual(expect.stringContaining('USING INDEX chats_by_activity'))
    expect(details.join()).not.toContain('USE TEMP B-TREE FOR ORDER BY')
  })
})

describe('chats by the beginning of their id', () => {
  beforeEach(() => {
    for (const id of ['abcd', 'abcd-1', 'abcd-😀', 'abce', 'ABCD']) mirror.addChat({ id, createdAt: 1 })
  })
  const found = (prefix: string) => {
    const page = listChats(mirror.reader, { ...everything, scores: scoresByIdPrefix(mirror.reader, prefix, null) })
    return page.items.map(({ id }) => id).toSorted()
  }

  it('a prefix finds every id that begins with it, and a whole id only its chat', () => {
    expect(found('abcd-')).toEqual(['abcd-1', 'abcd-😀'])
    expect(found('abc')).toEqual(['abcd', 'abcd-1', 'abcd-😀', 'abce'])
    expect(found('abcd')).toEqual(['abcd'])
    expect(found('abcd%')).toEqual([])
  })

  it('chats that were not asked for are left out', () => {
    expect(scoresByIdPrefix(mirror.reader, 'abc', new Map([[4, 0.5]]))).toEqual(new Map([[4, 0.5]]))
  })

  it('the ids come from a range of the index', () => {
    const plan = mirror.reader
      .prepare<[object], { detail: string }>(`explain query plan ${CHATS_BY_ID_PREFIX}`)
      .all({ prefix: 'abcd' })
    expect(plan.map(({ detail }) => detail).join()).toMatch(/^SEARCH chats .*\(id>\? AND id<\?\)$/)
  })
})

describe('finding titles', () => {
  beforeEach(() => {
    mirror.addChat({ id: 'login', createdAt: 1, title: 'Fix the login redirect' })
    mirror.addChat({ id: 'cache', createdAt: 2, title: 'Cache invalidation of user names' })
    mirror.addChat({ id: 'cjk', createdAt: 3, title: '数据库迁移' })
    mirror.addChat({ id: 'old login', createdAt: 0, title: 'Login' })
  })

  it.each<[string, string, string[]]>([
    ['a word', 'redirect', ['login']],
    ['the start of a word', 'inval', ['cache']],
    ['a misspelt word', 'redirekt', ['login']],
    ['swapped letters', 'cahce', ['cache']],
    ['swapped letters beside another word', 'fix lgoin', ['login']],
    ['other case and accents', 'CÁCHE', ['cache']],
    ['a piece of unspaced text', '迁移', ['cjk']],
    ['all words if a title has all', 'login redirect', ['login']],
    ['any word if no title has all', 'redirect invalidation', ['login', 'cache']],
    ['nothing', 'zebra', []],
  ])('%s', (_claim, titleWords, expected) => {
    expect(ids({ titleWords }).sort()).toEqual([...expected].sort())
  })

  it('the better match is first, unless a sort is given', () => {
    expect(ids({ titleWords: 'login' })).toEqual(['old login', 'login'])
    expect(ids({ titleWords: 'login', sort: 'newest' })).toEqual(['login', 'old login'])
    expect(ids({ titleWords: 'login', limit: 1, offset: 1 })).toEqual(['login'])
  })

  it('blank words match every chat', () => {
    expect(ids({ titleWords: '  ' })).toHaveLength(4)
  })

  it('a changed title is found only by its new words', () => {
    expect(ids({ titleWords: 'invalidation' })).toEqual(['cache'])
    mirror.writer.prepare("update chats set title = 'Sharding', revision = 100 where id = 'cache'").run()
    expect(ids({ titleWords: 'invalidation' })).toEqual([])
    expect(ids({ titleWords: 'sharding' })).toEqual(['cache'])
  })

  it('the title of an unlisted draft does not hide weaker matches', () => {
    mirror.addChat({ id: 'draft', title: 'Redirect the logni', createdAt: 9, columns: { is_draft: 1 } })
    expect(ids({ titleWords: 'logni' }).sort()).toEqual(['login', 'old login'])
    expect(ids({ titleWords: 'logni', includeEmpty: true })).toEqual(['draft'])
    expect(ids({ titleWords: 'logni', sort: 'oldest', archived: true })).toEqual([])
  })

  it('a full match in another project does not hide weaker matches of the given project', () => {
    const project = mirror.addProject('shop')
    mirror.addChat({ id: 'here', title: 'Sharding', createdAt: 9, project })
    mirror.addChat({ id: 'elsewhere', title: 'Sharding and replicas', createdAt: 10 })
    expect(ids({ titleWords: 'sharding replicas', projectNums: [project] })).toEqual(['here'])
    expect(ids({ titleWords: 'sharding replicas' })).toEqual(['elsewhere'])
  })

  it('a deleted chat is not found', () => {
    expect(ids({ titleWords: 'redirect' })).toEqual(['login'])
    mirror.writer.prepare("delete from chats where id = 'login'").run()
    expect(ids({ titleWords: 'redirect' })).toEqual([])
  })
})

it('a chat has the documented shape', () => {
  const project = mirror.addProject('shop')
  const day = Date.UTC(2026, 2, 1)
  mirror.addChat({
    id: 'full',
    title: 'All of it',
    project,
    createdAt: day,
    lastActivityAt: day + 1,
    messageCount: 4,
    columns: {
      summary: 'In short',
      project_source: 'workspace-heads',
      mode: 'agent',
      model: 'sonnet',
      models: '["sonnet"]',
      user_message_count: 2,
      tool_call_count: 1,
      size_bytes: 99,
      status: 'completed',
      is_archived: 1,
      is_live: 0,
      deleted_at: day + 2,
      lines_added: 3,
      lines_removed: 0,
      files_changed: 1,
      context_used: 1000,
      context_limit: null,
      recorded_cost_cents: 1.5,
    },
  })
  mirror.addChat({ id: 'child', createdAt: 5, columns: { parent_chat_id: 'full', is_subagent: 1 } })
  mirror.insert('chat_links', { parent_id: 'full', child_id: 'child' })
  mirror.insert('chat_links', { parent_id: 'full', child_id: 'never seen' })
  mirror.addChat({ id: 'linked', createdAt: 6, columns: { is_subagent: 1 } })
  mirror.insert('chat_links', { parent_id: 'full', child_id: 'linked' })

  const [full] = listChats(mirror.reader, everything).items
  expect(full).toEqual({
    id: 'full',
    title: 'All of it',
    titleSource: 'cursor',
    summary: 'In short',
    project: { id: 'shop', name: 'shop' },
    projectSource: 'workspace-heads',
    createdAt: '2026-03-01T00:00:00.000Z',
    lastActivityAt: '2026-03-01T00:00:00.001Z',
    mode: 'agent',
    branch: null,
    model: 'sonnet',
    modelSource: null,
    models: ['sonnet'],
    messageCount: 4,
    userMessageCount: 2,
    toolCallCount: 1,
    sizeBytes: 99,
    format: 'split',
    source: 'composer-kv',
    origin: null,
    status: 'completed',
    isArchived: true,
    isSubagent: false,
    parentChatId: null,
    childChatIds: expect.toSatisfy((found: string[]) => found.toSorted().join() === 'child,linked,never seen'),
    deletedInCursor: true,
    deletedAt: '2026-03-01T00:00:00.002Z',
    linesAdded: 3,
    linesRemoved: 0,
    filesChanged: 1,
    contextTokens: { used: 1000, limit: null },
    machine: null,
    recordedCostCents: 1.5,
  })
  const parents = listChats(mirror.reader, { ...everything, subagents: true }).items.map((chat) => chat.parentChatId)
  expect(parents).toEqual([null, 'full', 'full'])
})

it('unknown facts of a chat are null', () => {
  mirror.addChat({ id: 'bare', createdAt: null })
  expect(listChats(mirror.reader, everything).items[0]).toMatchObject({
    project: null,
    createdAt: null,
    lastActivityAt: null,
    mode: null,
    models: [],
    parentChatId: null,
    childChatIds: [],
    deletedAt: null,
    linesAdded: null,
    contextTokens: null,
    recordedCostCents: null,
  })
})

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeEach, describe, expect, it, test } from 'vitest'
import { listItems, readItem } from '../../../src/indexer/sources/workspace-items/read.ts'
import { readWorkspace } from '../../../src/indexer/sources/workspace-items/read-workspace.ts'
import type { WholeContent } from '../../../src/indexer/open-safely/whole-store.ts'
import { Store } from '../../helpers/cursor.ts'
import { canary, workspaceEras, type Era } from '../../helpers/eras/workspace-items.ts'
import { evidenceOf, keys, saidIn } from './items.ts'

let userDir = ''
beforeEach(() => {
  userDir = mkdtempSync(join(tmpdir(), 'workspace-items-'))
})

const folderOf = (id: string): string => join(userDir, 'workspaceStorage', id)
const storeOf = (id: string): string => join(folderOf(id), 'state.vscdb')

function contentOf(id: string): WholeContent {
  const found = readWorkspace({ id, folder: folderOf(id), path: storeOf(id) }, 'as it is')
  if (found.kind !== 'whole') throw new Error(`expected a whole store, got ${found.kind}`)
  return found.content
}

function makeStore(id: string): Store {
  mkdirSync(folderOf(id), { recursive: true })
  return new Store(storeOf(id), 'delete')
}

describe.each(workspaceEras.map((era): [string, Era] => [era.name, era]))('%s', (_, era) => {
  beforeEach(() => era.write(userDir))

  it('gives the chats in it', () => {
    const { pieces } = contentOf(era.workspaceId)
    const chats = pieces.flatMap((piece) => piece.chats)
    expect(pieces.filter(({ issue }) => issue !== null)).toEqual([])
    expect(chats.map(({ id, facts }) => [id, facts.name, facts.format, facts.createdAtMs, facts.updatedAtMs])).toEqual(
      era.chats.map((chat) => [chat.id, chat.title, chat.format, chat.createdAtMs, chat.updatedAtMs]),
    )
    expect(chats.map(saidIn)).toEqual(
      era.chats.map(({ messages }) => messages.map(({ role, text }) => `${role}: ${text}`)),
    )
    const ownIds = chats.map(({ messages }) => messages.map(({ id }) => (id.startsWith('made-') ? null : id)))
    expect(ownIds).toEqual(era.chats.map(({ messages }) => messages.map(({ id }) => id)))
  })

  it('gives its root to the chats in it or in its lists, and, as weaker evidence, to the open ones', () => {
    const { pieces, workspaces } = contentOf(era.workspaceId)
    expect(workspaces).toMatchObject([{ id: era.workspaceId, root: { uri: era.rootUri } }])
    const own = [...era.chats.map(({ id }) => id), ...era.headIds]
    expect(pieces.flatMap(evidenceOf).sort()).toEqual(
      [
        ...own.map((id) => `${id} workspace-heads ${era.rootUri}`),
        ...era.openIds.map((id) => `${id} open-tab ${era.rootUri}`),
      ].sort(),
    )
    expect(pieces.flatMap(({ heads }) => heads.map(({ chatId }) => chatId))).toEqual(era.headIds)
  })

  it('leaves the store unchanged, and nothing beside it', () => {
    const before = readFileSync(storeOf(era.workspaceId))
    contentOf(era.workspaceId)
    expect(readFileSync(storeOf(era.workspaceId)).equals(before)).toBe(true)
    expect(readdirSync(folderOf(era.workspaceId)).sort()).toEqual(['state.vscdb', 'workspace.json'])
  })

  it('never returns private items', () => {
    expect(JSON.stringify(contentOf(era.workspaceId))).not.toContain(canary)
  })
})

describe('what is read from a store', () => {
  it('is exact keys, and ranges of the two families with chats', () => {
    const asked: string[] = []
    const db = new Database(':memory:', { verbose: (sql) => asked.push(String(sql)) })
    db.exec('create table ItemTable (key text unique on conflict replace, value blob)')
    db.exec('create table cursorDiskKV (key text unique on conflict replace, value blob)')
    db.exec(`insert into ItemTable values ('cursorAuth/accessToken', '${canary}'), ('composer.composerData', '[]')`)
    asked.length = 0
    const read = listItems(db).flatMap((ref) => readItem(db, ref) ?? [])
    expect(read.map(({ key }) => key)).toEqual(['composer.composerData'])
    expect(asked.length).toBeGreaterThan(5)
    for (const sql of asked) {
      expect(sql).not.toMatch(/select\s+\*|\blike\b|\bglob\b/i)
      expect(sql).toMatch(/from sqlite_master|where key = '|where key > '[^]* and key < '/)
    }
    const ofRows = asked.filter((sql) => !sql.includes('sqlite_master'))
    const plans = ofRows.flatMap((sql) => db.prepare<[], { detail: string }>(`explain query plan ${sql}`).all())
    expect(plans.filter(({ detail }) => !detail.startsWith('SEARCH'))).toEqual([])
    db.close()
  })

  test.each<[string, unknown, string[]]>([
    ['text', '[{"text":"a"}]', ['user: a']],
    ['bytes', Buffer.from('[{"text":"a"}]'), ['user: a']],
  ])('is read as %s', (_, value, expectedText) => {
    const store = makeStore('w')
    store.item(keys.prompts, value)
    store.close()
    expect(
      contentOf('w')
        .pieces.flatMap(({ chats }) => chats)
        .map(saidIn),
    ).toEqual([expectedText])
  })

  it('is nothing if a value is NULL, a table is missing or the file is empty', () => {
    const store = makeStore('w')
    store.item(keys.prompts, null)
    store.put('composerData:c1', null)
    store.close()
    expect(contentOf('w').pieces).toEqual([])
    const bare = new Database(storeOf('w'))
    bare.exec('drop table ItemTable; drop table cursorDiskKV')
    bare.close()
    expect(contentOf('w')).toMatchObject({ pieces: [], workspaces: [], signature: 'as it is' })
    writeFileSync(storeOf('w'), '')
    expect(contentOf('w').pieces).toEqual([])
  })

  it('is an issue with its size if it is too large, and the other items are read', () => {
    const store = makeStore('w')
    store.db.prepare('insert into ItemTable values (?, zeroblob(33554433))').run(keys.tabs)
    store.item(keys.prompts, [{ text: 'a' }])
    store.close()
    expect(contentOf('w').pieces).toMatchObject([
      { key: keys.tabs, octets: 33_554_433, checksum: null, issue: 'too-large' },
      { key: keys.prompts, issue: null, chats: [{ id: 'prompts-w' }] },
    ])
  })

  it('includes a chat in the other table, if there is one', () => {
    const store = makeStore('w')
    store.put('composerData:c1', { conversation: [{ bubbleId: 'b', type: 1, text: 'a' }] })
    store.put('bubbleId:c1:b', { type: 1, text: 'a' })
    store.close()
    expect(contentOf('w').pieces).toMatchObject([
      { key: 'composerData:c1', chats: [{ id: 'c1', messages: [{ id: 'b' }] }] },
    ])
  })

  it('includes a chat in two items once, with the most messages', () => {
    const tab = (...texts: readonly string[]) => ({
      tabs: [{ tabId: 't1', bubbles: texts.map((text) => ({ type: 'user', text })) }],
    })
    const store = makeStore('w')
    store.item(keys.tabs, tab('a'))
    store.item(keys.oldTabs, tab('a', 'b'))
    store.close()
    const { pieces } = contentOf('w')
    expect(pieces.map(({ key, chats }) => [key, chats.map(saidIn)])).toEqual([
      [keys.tabs, []],
      [keys.oldTabs, [['user: a', 'user: b']]],
    ])
  })

  it('is counted in bytes', () => {
    const store = makeStore('w')
    store.item(keys.prompts, [{ text: 'a' }])
    store.close()
    expect(contentOf('w').bytesRead).toBeGreaterThan(readFileSync(storeOf('w')).length)
  })
})

describe('a workspace', () => {
  it('without a store has only a root', () => {
    mkdirSync(folderOf('w'), { recursive: true })
    writeFileSync(join(folderOf('w'), 'workspace.json'), '{"folder":"file:///yard/mill"}')
    const found = readWorkspace({ id: 'w', folder: folderOf('w'), path: storeOf('w') }, null)
    expect(found).toMatchObject({ kind: 'bare', workspaces: [{ id: 'w', root: { uri: 'file:///yard/mill' } }] })
  })

  it('that vanished has nothing', () => {
    const found = readWorkspace({ id: 'w', folder: folderOf('w'), path: storeOf('w') }, null)
    expect(found).toEqual({ kind: 'bare', workspaces: [] })
  })

  test.each(['empty-window', '1730000000000'])('called %s has no root, and its chats no evidence', (id) => {
    const store = makeStore(id)
    store.item(keys.composers, { allComposers: [{ composerId: 'c1' }], selectedComposerIds: ['c1'] })
    store.close()
    expect(contentOf(id)).toMatchObject({ workspaces: [], pieces: [{ evidence: [], heads: [{ chatId: 'c1' }] }] })
  })

  it('whose store is not a database is reported as such', () => {
    mkdirSync(folderOf('w'), { recursive: true })
    writeFileSync(storeOf('w'), 'not a database, only words')
    const found = readWorkspace({ id: 'w', folder: folderOf('w'), path: storeOf('w') }, null)
    expect(found).toMatchObject({ kind: 'closed', state: 'corrupt' })
  })
})

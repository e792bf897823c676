import { createHash } from 'node:crypto'
import { mkdirSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { cliFolder, CliStore, encodeState, type CursorHome } from '../../helpers/cursor.ts'
import { user } from '../../helpers/eras/cli-store.ts'
import { openIndexed, type Indexer } from '../../helpers/in-process.ts'

let cursor: CursorHome
let indexer: Indexer
let cli: string

beforeEach(() => {
  ;({ home: cursor, indexer } = openIndexed())
  cli = join(cursor.root, '.cursor')
  mkdirSync(cli)
})

function chat(begunIn: string, sidecar: object = {}, workspaceUris: readonly string[] = []): void {
  const store = new CliStore(cliFolder(cli, begunIn, 'a'))
  const root = store.blob(encodeState({ entries: [store.blob(user('one'))], workspaceUris }))
  store.facts({ latestRootBlobId: root })
  store.sidecar(sidecar)
  store.close()
}

/** A message of another chat, so that there is something to show. */
const sayElsewhere = (text: string) => cursor.global().message('other', text, { type: 1, text })

const project = (): unknown =>
  indexer.mirror
    .prepare(
      `select uri, project_source as source from chats left join projects on projects.num = project where chats.id = 'a'`,
    )
    .get()

test('the folder in the file beside the store is its project', async () => {
  chat('/yard/forge', { cwd: '/yard/forge' }, ['file:///yard/barn'])
  await indexer.pass()
  expect(project()).toEqual({ uri: 'file:///yard/forge', source: 'cli-folder' })
})

test.each(['forge', './forge', 'https://yard.org/forge', '~', '', 7, null, '/a\0b', `/${'a'.repeat(5000)}`])(
  'if the folder is %j, which is invalid, the root of its window is the project',
  async (cwd) => {
    chat('/yard/forge', { cwd }, ['/yard/barn', 'file:///yard/shed'])
    await indexer.pass()
    expect(project()).toEqual({ uri: 'file:///yard/barn', source: 'cli-workspace' })
  },
)

test('a folder on Windows is a project too', async () => {
  chat('/yard/forge', { cwd: 'C:\\Yard\\Forge' })
  await indexer.pass()
  expect(project()).toEqual({ uri: 'file:///c:/Yard/Forge', source: 'cli-folder' })
})

describe('the hash of its folder', () => {
  test('matches the root if that is known', async () => {
    cursor.workspace('ws1', { folder: 'file:///yard/the%20forge' })
    cursor.workspace('ws2', { folder: 'file:///yard' })
    chat('/yard/the forge')
    await indexer.pass()
    expect(project()).toEqual({ uri: 'file:///yard/the%20forge', source: 'folder-hash' })
  })

  test('matches a root that becomes known later', async () => {
    chat('/yard/forge')
    await indexer.pass()
    expect(project()).toEqual({ uri: null, source: null })
    cursor.workspace('ws1', { folder: 'file:///yard/forge' }, ['other'])
    sayElsewhere('one')
    await indexer.pass()
    expect(project()).toEqual({ uri: 'file:///yard/forge', source: 'folder-hash' })
    expect(await indexer.pass('values')).toMatchObject({ added: 0, changed: 0, gone: 0 })
  })

  test('no longer counts once the chat itself names its place', async () => {
    cursor.workspace('ws1', { folder: 'file:///yard/forge' })
    chat('/yard/forge')
    await indexer.pass()
    chat('/yard/forge', { cwd: '/yard/barn' })
    await indexer.pass()
    expect(project()).toEqual({ uri: 'file:///yard/barn', source: 'cli-folder' })
    sayElsewhere('one')
    await indexer.pass('values')
    expect(project()).toEqual({ uri: 'file:///yard/barn', source: 'cli-folder' })
  })

  test.each(['C:\\Yard\\Forge', 'c:\\Yard\\Forge', 'c:/Yard/Forge', 'C:/Yard/Forge'])(
    'is found for %s in either spelling',
    async (path) => {
      cursor.workspace('ws1', { folder: 'file:///c%3A/Yard/Forge' })
      chat(path)
      await indexer.pass()
      expect(project()).toEqual({ uri: 'file:///c:/Yard/Forge', source: 'folder-hash' })
    },
  )

  test.each(['vscode-remote://ssh-remote%2Bbox/yard/forge', 'file:///yard/forge/inner', 'file:///yard'])(
    'does not match %s',
    async (folder) => {
      cursor.workspace('ws1', { folder })
      chat('/yard/forge')
      await indexer.pass()
      expect(project()).toEqual({ uri: null, source: null })
    },
  )

  test('is missing if the folder has another name', async () => {
    cursor.workspace('ws1', { folder: 'file:///yard/forge' })
    chat('/yard/forge')
    const from = dirname(cliFolder(cli, '/yard/forge', 'a'))
    renameSync(from, join(dirname(from), 'by hand'))
    await indexer.pass()
    expect(createHash('md5').update('/yard/forge').digest('hex')).toBe(from.split('/').at(-1))
    expect(project()).toEqual({ uri: null, source: null })
  })
})

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { getProject, listProjects, resolveProjects } from '../../../src/api/queries/projects/list-projects.ts'
import { asProjectId } from '../../../src/model/ids.ts'
import { seedMirror, type SeededMirror } from '../../helpers/seed-mirror.ts'

let mirror: SeededMirror
beforeEach(() => {
  mirror = seedMirror()
})
afterEach(() => mirror.dispose())

describe('projects', () => {
  beforeEach(() => {
    const shop = mirror.addProject('shop', { remote_kind: 'ssh', remote_host: 'box' })
    mirror.addWorkspace('w2', shop)
    mirror.addWorkspace('w1', shop)
    mirror.addChat({ id: 'a', project: shop, createdAt: 10, lastActivityAt: 20, messageCount: 3 })
    mirror.addChat({ id: 'b', project: shop, createdAt: 15, lastActivityAt: 30, messageCount: 2 })
    mirror.addChat({
      id: 's',
      project: shop,
      createdAt: 1,
      lastActivityAt: 99,
      messageCount: 4,
      columns: { is_subagent: 1 },
    })
    mirror.addChat({ id: 'd', project: shop, createdAt: 0, lastActivityAt: 98, messageCount: 0 })
    // A draft does not count.
    mirror.addChat({ id: 'draft', project: shop, lastActivityAt: 97, messageCount: 5, columns: { is_draft: 1 } })
    mirror.addWorkspace('w3', mirror.addProject('quiet'))
    mirror.addWorkspace('w4', mirror.addProject('bare'))
    mirror.addProject('leftover')
    mirror.addChat({ id: 'n', project: mirror.addProject('newest'), createdAt: 50 })
  })

  it('are listed by last activity, then by name; a workspace without chats is a project', () => {
    const page = listProjects(mirror.reader, { limit: 20, offset: 0 })
    expect(page.items.map((project) => project.id)).toEqual(['newest', 'shop', 'bare', 'quiet'])
    expect(page.total).toBe(4)
    expect(listProjects(mirror.reader, { limit: 1, offset: 1 }).items.map((project) => project.id)).toEqual(['shop'])
  })

  it('count listed chats and the messages of all chats', () => {
    expect(getProject(mirror.reader, asProjectId('shop'))).toEqual({
      id: 'shop',
      name: 'shop',
      path: '/home/ada/shop',
      uri: 'file:///home/ada/shop',
      remote: { kind: 'ssh', host: 'box' },
      workspaceIds: ['w1', 'w2'],
      chatCount: 2,
      messageCount: 9,
      firstActivityAt: '1970-01-01T00:00:00.010Z',
      lastActivityAt: '1970-01-01T00:00:00.030Z',
    })
  })

  it('have zeros and nulls without chats', () => {
    expect(getProject(mirror.reader, asProjectId('bare'))).toMatchObject({
      remote: null,
      workspaceIds: ['w4'],
      chatCount: 0,
      messageCount: 0,
      firstActivityAt: null,
      lastActivityAt: null,
    })
  })

  it('are the same alone and in the list', () => {
    for (const project of listProjects(mirror.reader, { limit: 20, offset: 0 }).items) {
      expect(getProject(mirror.reader, project.id)).toEqual(project)
    }
    expect(getProject(mirror.reader, asProjectId('nobody'))).toBeNull()
  })
})

describe('a project filter', () => {
  beforeEach(() => {
    mirror.addProject('id-1', { name: 'shop', path: '/home/ada/shop' })
    mirror.addProject('id-2', { name: 'shop', path: '/home/eve/shop' })
    mirror.addProject('id-3', { name: "it's 100%", path: 'c:\\work\\it' })
    mirror.addProject('id-4', { name: '/', path: '/' })
    mirror.addProject('id-5', { name: 'shop5', path: 'c:/Users/a/shop' })
  })

  it.each<[string, string[], number[]]>([
    ['an id', ['id-1'], [1]],
    ['a name of two projects', ['shop'], [1, 2]],
    ['a path', ['/home/eve/shop'], [2]],
    ['a path with a final slash', ['/home/eve/shop/'], [2]],
    ['a Windows path', ['c:\\work\\it\\'], [3]],
    ['a Windows path with backslashes', ['C:\\Users\\a\\shop\\'], [5]],
    ['a Windows path with a lower-case drive', ['c:\\Users\\a\\shop'], [5]],
    ['a Windows path with slashes', ['C:/Users/a/shop/'], [5]],
    ['the root', ['/'], [4]],
    ['quotes and percent signs', ["it's 100%"], [3]],
    ['several', ['id-1', "it's 100%"], [1, 3]],
    ['part of a name', ['sho'], []],
    ['nothing known', ['nobody'], []],
    ['nothing', [], []],
  ])('takes %s', (_claim, words, expected) => {
    expect(resolveProjects(mirror.reader, words)).toEqual(expected)
  })

  it.each(['NFC', 'NFD'] as const)('finds a project with accents stored as %s by either form', (form) => {
    const name = 'büro ひば'.normalize(form)
    const num = mirror.addProject('p', { name, path: `/home/ada/${name}` })
    for (const typed of ['NFC', 'NFD'] as const) {
      expect(resolveProjects(mirror.reader, ['büro ひば'.normalize(typed)])).toEqual([num])
      expect(resolveProjects(mirror.reader, ['/home/ada/büro ひば/'.normalize(typed)])).toEqual([num])
    }
  })
})

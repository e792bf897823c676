import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { HubWorld, say } from './hub-world.ts'
import type { Machine } from './machine.ts'

// Under which name a project is at the hub.
let world: HubWorld
let ada: Machine
let bob: Machine
beforeAll(async () => {
  world = await HubWorld.start()
})
afterAll(() => world.remove())
beforeEach(async () => {
  await world.renew()
  ada = world.machine('ada')
  bob = world.machine('bob')
})

/** A folder of this machine. @param remote null: no repository */
function folderOf(machine: Machine, name: string, remote: string | null): string {
  const folder = join(machine.dataDir, name)
  mkdirSync(folder)
  const git = (...args: string[]): unknown => execFileSync('git', ['-C', folder, ...args], { stdio: 'ignore' })
  if (remote !== null) {
    git('init')
    git('remote', 'add', 'origin', remote)
  }
  return folder
}

const namesAtHub = async (): Promise<string[]> =>
  (
    await world.server.sql<{ name: string }>(
      `select distinct project as name from cursordex.chats order by project`,
      world.url,
    )
  ).map(({ name }) => name)

test('clones in different folders are one project at the hub and at a reader; other folders stay apart', async () => {
  const eve = world.machine('eve')
  await say(ada, 'one', ['first'], { project: folderOf(ada, 'app', 'git@github.com:acme/app.git') })
  await say(bob, 'two', ['second'], { project: folderOf(bob, 'clone', 'https://bob:secret@github.com/acme/app') })
  await say(bob, 'three', ['third'], { project: folderOf(bob, 'app', null) })
  await ada.push()
  await bob.push()
  const [own = '', shared] = await namesAtHub()
  expect([shared, own]).toEqual(['github.com/acme/app', expect.stringMatching(/^admin .*\/app$/)])
  await eve.sync()
  await eve.pull()
  const projects = eve.mirror
    .prepare('select count(distinct project) as projects, group_concat(id) as chats from chats group by project')
    .all()
  expect(projects).toEqual(
    expect.arrayContaining([
      { projects: 1, chats: expect.stringMatching(/^(one,two|two,one)$/) },
      { projects: 1, chats: 'three' },
    ]),
  )
})

test('a project keeps its name at the hub until it is renamed, and then all its chats move', async () => {
  const folder = folderOf(ada, 'app', null)
  await say(ada, 'one', ['first'], { project: folder })
  await say(ada, 'two', ['second'], { project: folder })
  await ada.push()
  const [former = ''] = await namesAtHub()
  execFileSync('git', ['-C', folder, 'init'], { stdio: 'ignore' })
  execFileSync('git', ['-C', folder, 'remote', 'add', 'origin', 'git@github.com:acme/app.git'])
  expect(await ada.push()).toMatchObject({ pushed: 0, unchanged: 2 })
  expect(await namesAtHub()).toEqual([former])
  const rename = { from: former, to: 'github.com/acme/app' }
  expect(await ada.sharing().push({ rename })).toMatchObject({ pushed: 2 })
  expect(await namesAtHub()).toEqual(['github.com/acme/app'])
  expect(await ada.push()).toMatchObject({ pushed: 0, unchanged: 2 })
  await expect(ada.sharing().push({ rename })).rejects.toMatchObject({
    code: 'hub-no-project',
    message: `No project of this machine is named ${former}.`,
  })
  await bob.sync()
  await bob.pull()
  expect(bob.words()).toEqual(ada.words())
})

import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listSources } from '../../src/api/queries/sources/list-sources.ts'
import { CursorHome } from '../helpers/cursor.ts'
import { Indexer } from '../helpers/in-process.ts'

let home: CursorHome
let indexer: Indexer
let slug: string
let workspace: string

beforeEach(() => {
  home = new CursorHome()
  home.global().chat('global', {})
  const cursorHome = join(home.userDir, '..', 'home')
  slug = join(cursorHome, 'projects', 'shop')
  mkdirSync(join(slug, 'agent-transcripts'), { recursive: true })
  const line = { role: 'user', message: { content: 'where is the lantern' } }
  writeFileSync(join(slug, 'agent-transcripts', 'told.jsonl'), `${JSON.stringify(line)}\n`)
  workspace = join(home.userDir, 'workspaceStorage', 'w1')
  mkdirSync(workspace, { recursive: true })
  writeFileSync(join(workspace, 'workspace.json'), '{"folder":"file:///home/ada/shop"}')
  indexer = new Indexer(home.userDir)
  indexer.homes = [cursorHome]
  indexer.pass()
})
afterEach(() => {
  indexer.remove()
  home.remove()
})

const states = (): Record<string, string> =>
  Object.fromEntries(
    listSources(indexer.mirror)
      .filter(({ kind }) => kind === 'transcripts' || kind === 'workspace-items')
      .map(({ kind, state }) => [kind, state]),
  )

test('a deleted workspace or folder of transcripts is no longer reported as ok', () => {
  expect(states()).toEqual({ transcripts: 'ok', 'workspace-items': 'ok' })
  rmSync(slug, { recursive: true })
  rmSync(workspace, { recursive: true })
  indexer.pass()
  expect(states()).toEqual({ transcripts: 'missing', 'workspace-items': 'missing' })
  expect(indexer.thread('told').map(([, , text]) => text)).toEqual(['where is the lantern'])
})

test('a store that is back is ok again', () => {
  renameSync(slug, `${slug}-away`)
  indexer.pass()
  renameSync(`${slug}-away`, slug)
  indexer.pass()
  expect(states()).toEqual({ transcripts: 'ok', 'workspace-items': 'ok' })
})

test('a store that exists but is switched off keeps its state', () => {
  indexer.homes = []
  indexer.pass()
  expect(states()).toEqual({ transcripts: 'ok', 'workspace-items': 'ok' })
})

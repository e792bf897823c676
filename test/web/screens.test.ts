import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeAllEras } from '../helpers/eras/all-eras.ts'
import { getJson } from '../helpers/spawn-cursordex.ts'
import { sortOf } from '../../src/web/chat/tools.ts'
import { axeViolations, overflow } from './browser.ts'
import { startChats, startDemo, usePlace, useTabs } from './place.ts'

interface List {
  readonly items: readonly { readonly id: string; readonly messageCount: number }[]
}

const openTab = useTabs()
const demo = usePlace(async () => {
  const started = await startDemo()
  const headers = { 'content-type': 'application/json' }
  await getJson(started.url, '/api/archives', { method: 'POST', headers, body: '{}' })
  return started
}, openTab)
const eras = usePlace(
  () => startChats((home) => writeAllEras(home, join(home.root, '.cursor')), { hasCursorHome: true }),
  openTab,
)
const places = { demo, eras }

/** Every screen, and what shows that it is there. */
async function screensOf(url: string): Promise<readonly (readonly [path: string, ready: string])[]> {
  const ask = (path: string): Promise<List> => getJson<List>(url, path)
  const chats = (await ask('/api/chats?limit=200&sort=messages')).items
  const project = (await ask('/api/projects')).items[0]
  const file = (await getJson<{ items: readonly { path: string }[] }>(url, '/api/files')).items[0]
  return [
    ['/', '[data-hit], .notice'],
    ['/?q=user', '[data-hit], .notice'],
    ['/?q=why+did+the+name+of+a+user+break+the+build', '[data-hit], .notice'],
    ['/?q=qqzzxxvv', '.notice'],
    ...chats
      .slice(0, 3)
      .map(({ id }) => [`/chats/${encodeURIComponent(id)}?q=user`, '.thread [data-message]'] as const),
    ...chats
      .slice(0, 1)
      .flatMap(({ id }) => [
        [`/chats/${encodeURIComponent(id)}?view=prompts`, '.thread [data-message]'] as const,
        [`/chats/${encodeURIComponent(id)}?view=changes`, '.thread .file-changes, .notice'] as const,
      ]),
    ...(project === undefined ? [] : [[`/projects/${project.id}`, '.figures, .notice'] as const]),
    ['/stats', '.figures, .notice'],
    ['/tokens', '.figures, .notice'],
    ['/files', 'table, .notice'],
    ...(file === undefined ? [] : [[`/files?path=${encodeURIComponent(file.path)}`, '.edit, .notice'] as const]),
    ['/projects', 'table'],
    ['/losses', '.card, #archives .notice'],
    ['/settings', '.figures'],
  ]
}

test.each([
  ['demo', 'light', 360],
  ['demo', 'dark', 1200],
  ['eras', 'light', 1200],
  ['eras', 'dark', 360],
] as const)(
  'axe finds nothing, nothing is against the policy, and every screen fits: %s, %s, %i pixels',
  async (which, theme, width) => {
    const page = await places[which].tab({ theme, width })
    const wrong: string[] = []
    for (const [path, ready] of await screensOf(places[which].server().url)) {
      await page.goto(path)
      await page.locator(ready).first().waitFor()
      // Every fold is open, so that its content is looked at too.
      await page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`)
      await page.waitForTimeout(250)
      wrong.push(...(await axeViolations(page)).map((each) => `${path} ${each}`))
      for (const each of [320, 360, 768, 1200, 2560]) {
        await page.setViewportSize({ width: each, height: 800 })
        const wider = await overflow(page)
        if (wider > 0) wrong.push(`${path} is ${wider} pixels wider than a window of ${each} pixels`)
      }
      await page.setViewportSize({ width, height: 800 })
    }
    expect(wrong).toEqual([])
  },
)

/** Tools of the builds of Cursor, and how the page says and shows their calls. */
const SORTS: Readonly<Record<string, readonly [verb: string, view: string]>> = {
  ApplyPatch: ['Edited', 'edits'],
  CreatePlan: ['Planned', 'fields'],
  Delete: ['Deleted', 'fields'],
  Glob: ['Listed', 'places'],
  Grep: ['Searched', 'places'],
  LS: ['Listed', 'places'],
  MultiEdit: ['Edited', 'edits'],
  Read: ['Read', 'file'],
  Shell: ['Ran', 'terminal'],
  StrReplace: ['Edited', 'edits'],
  Subagent: ['Sent a subagent', 'agent'],
  Task: ['Sent a subagent', 'agent'],
  TodoWrite: ['Planned', 'todos'],
  WebFetch: ['Looked up', 'prose'],
  Write: ['Wrote', 'edits'],
  apply_patch: ['Edited', 'edits'],
  ask_question: ['Asked you', 'fields'],
  codebase_search: ['Searched', 'places'],
  create_plan: ['Planned', 'fields'],
  delete_file: ['Deleted', 'fields'],
  'clay-shop.place_order': ['Asked', 'fields'],
  edit: ['Edited', 'edits'],
  edit_file: ['Edited', 'edits'],
  edit_file_v2: ['Edited', 'edits'],
  edit_notebook: ['Edited', 'edits'],
  fetch_rules: ['Looked up', 'prose'],
  file_search: ['Listed', 'places'],
  glob_file_search: ['Listed', 'places'],
  grep: ['Searched', 'places'],
  grep_search: ['Searched', 'places'],
  'herbs.find': ['Asked', 'fields'],
  list_dir: ['Listed', 'places'],
  list_dir_v2: ['Listed', 'places'],
  mcp_postgres_query: ['Asked', 'fields'],
  multi_edit: ['Edited', 'edits'],
  read_file: ['Read', 'file'],
  read_file_v2: ['Read', 'file'],
  read_lints: ['Checked', 'fields'],
  run_terminal_cmd: ['Ran', 'terminal'],
  run_terminal_command_v2: ['Ran', 'terminal'],
  'scales.weigh': ['Asked', 'fields'],
  search_replace: ['Edited', 'edits'],
  semantic_search: ['Searched', 'places'],
  shell: ['Ran', 'terminal'],
  switch_mode: ['Changed mode', 'fields'],
  task_v2: ['Sent a subagent', 'agent'],
  todo_write: ['Planned', 'todos'],
  updateCurrentStep: ['Planned', 'fields'],
  update_memory: ['Remembered', 'prose'],
  web_search: ['Looked up', 'prose'],
  write: ['Wrote', 'edits'],
  'a tool of tomorrow': ['Called', 'fields'],
}

test('every tool of all eras and of the demo has its verb and its view', async () => {
  const sorted = Object.keys(SORTS).map((name) => [name, [sortOf(name).verb, sortOf(name).view]])
  expect(Object.fromEntries(sorted)).toEqual(SORTS)
  for (const { get } of [demo, eras]) {
    const { byTool } = await get<{ byTool: readonly { readonly name: string }[] }>('/api/stats')
    expect(byTool.length).toBeGreaterThan(2)
    expect(byTool.map(({ name }) => name).filter((name) => !(name in SORTS))).toEqual([])
  }
})

test('every chat of all eras opens without a fault', async () => {
  const { items } = await eras.get<List>('/api/chats?limit=200&includeEmpty=true&subagents=true')
  expect(items.length).toBeGreaterThan(10)
  const page = await eras.tab()
  for (const { id, messageCount } of items) {
    await page.goto(`/chats/${encodeURIComponent(id)}`)
    await page
      .locator(messageCount === 0 ? '.thread' : '.thread [data-message], .thread .notice')
      .first()
      .waitFor()
  }
})

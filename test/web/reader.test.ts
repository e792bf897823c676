import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { headers } from '../helpers/cursor.ts'
import { axeViolations } from './browser.ts'
import { startChats, usePlace } from './place.ts'

// How the calls of all kinds of tools are read on the page.

interface Call {
  readonly name: string
  readonly params: unknown
  readonly result: unknown
  readonly status?: string
}

const calls: Readonly<Record<string, Call>> = {
  patch: {
    name: 'apply_patch',
    params: '*** Begin Patch\n*** Update File: src/a.ts\n@@\n-const one = 1\n+const one = 2\n*** End Patch',
    result: {},
  },
  replace: {
    name: 'search_replace',
    params: { file_path: 'src/b.ts', old_string: 'let total = price', new_string: 'let total = price + tax' },
    result: {
      diff: {
        chunks: [{ diffString: ' head\n-let total = price\n+let total = price + tax', oldStart: 7, newStart: 9 }],
      },
    },
  },
  sketch: {
    name: 'edit_file',
    params: { target_file: 'src/c.ts', code_edit: '// ... existing code ...\nconst added = true' },
    result: {},
  },
  many: {
    name: 'MultiEdit',
    params: {
      file_path: 'src/d.ts',
      edits: [
        { old_string: 'a', new_string: 'b' },
        { old_string: 'c', new_string: 'd' },
      ],
    },
    result: {},
  },
  whole: { name: 'write', params: { file_path: 'src/e.ts', contents: 'first\nsecond\n' }, result: {} },
  shell: {
    name: 'run_terminal_cmd',
    params: { command: 'npm test' },
    result: { output: '\u001b[31mFAIL\u001b[0m src/a.test.ts\n10%\r50%\rdone', exitCode: 1 },
  },
  search: {
    name: 'codebase_search',
    params: { query: 'where is tax added' },
    result: {
      codeResults: [
        {
          codeBlock: {
            relativeWorkspacePath: 'src/b.ts',
            range: { startPosition: { line: 7 } },
            contents: 'price + tax',
          },
        },
      ],
    },
  },
  grep: {
    name: 'grep',
    params: { pattern: 'tax' },
    result: { output: 'src/b.ts:9:let total = price + tax\nsrc/f.ts:2:tax' },
  },
  mcp: {
    name: 'mcp_postgres_query',
    params: { sql: 'select id, name from users' },
    result: { content: [{ type: 'text', text: '[{"id":1,"name":"Ada \\"Countess\\""}]' }] },
  },
  strange: {
    name: 'tool_of_tomorrow',
    params: { note: 'Two lines:\nhere "they" are', deep: { list: ['one', { two: 'three' }] } },
    result: { answer: '{"words":"inside \\"JSON\\""}' },
  },
}

/** First messages of chats without a name, which make their titles. */
const untitled: Readonly<Record<string, string>> = {
  tags: '<environment_details>\n<task>\nMend the login</task>',
  markdown: '## Mend the *build*',
  json: '{"kind":"task","words":"Mend the \\"search\\" now"}',
  fence: '```ts\nconst a = 1\n```',
  numbers: '{"a":1}',
  html: 'Centre a <div> in CSS',
}

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const place = usePlace(() =>
  startChats((home) => {
    const store = home.global()
    const names = Object.keys(calls)
    const ids = ['long', 'rtl', ...names, 'thought']
    store.chat('reader', { name: 'All kinds', fullConversationHeadersOnly: headers(ids) })
    store.message('reader', 'long', {
      type: 1,
      text: Array.from({ length: 60 }, (_, line) => `line ${line}`).join('\n'),
    })
    store.message('reader', 'rtl', { type: 1, text: 'שלום עולם, const x' })
    for (const [id, { name, params, result, status = 'completed' }] of Object.entries(calls)) {
      const given = typeof params === 'string' ? params : JSON.stringify(params)
      const toolFormerData = { name, status, params: given, rawArgs: given, result: JSON.stringify(result) }
      store.message('reader', id, { type: 2, text: '', capabilityType: 15, toolFormerData })
    }
    for (const [id, text] of Object.entries(untitled)) {
      store.chat(id, { fullConversationHeadersOnly: headers([`${id}-1`]) })
      store.message(id, `${id}-1`, { type: 1, text })
    }
    const [there, gone] = ['there', 'gone'].map((name) => join(home.root, `${name}.png`))
    writeFileSync(there ?? '', Buffer.from(PIXEL, 'base64'))
    store.chat('images', { name: 'Images', fullConversationHeadersOnly: headers(['m']) })
    store.message('images', 'm', { type: 1, text: 'see these', images: [there, gone] })
    store.message('reader', 'thought', { type: 2, text: '', capabilityType: 30, thinking: { text: 'I **must** look' } })
  }),
)

test('calls of all kinds are read as words, and never as escaped JSON', async () => {
  const page = await place.tab()
  await page.goto('/chats/reader')
  const of = (id: string) => page.locator(`[data-message="${id}"]`)
  await of('long').waitFor()
  expect(await of('long').innerText()).not.toContain('line 20')
  await of('long').getByRole('button', { name: 'Show all 60 lines' }).click()
  await of('long').getByText('line 59').waitFor()
  expect(
    await of('rtl')
      .locator('.prose')
      .evaluate((element) => element.matches(':dir(rtl)')),
  ).toBe(true)
  // A small edit is open at first; what one opens stays open.
  await of('patch').scrollIntoViewIfNeeded()
  expect(await of('patch').getAttribute('open')).not.toBeNull()
  await page.getByRole('button', { name: 'Expand all' }).click()
  const texts: Record<string, string> = {}
  for (const id of [...Object.keys(calls), 'thought']) {
    await of(id).scrollIntoViewIfNeeded()
    texts[id] = (await of(id).innerText()).replaceAll(/\s+/g, ' ')
  }
  expect(texts).toMatchObject({
    patch: expect.stringMatching(/^Edited src\/a\.ts \+1 −1 .*-const one = 1 \+const one = 2/),
    replace: expect.stringMatching(/^Edited src\/b\.ts \+1 −1/),
    sketch: expect.stringMatching(/^Edited src\/c\.ts .*lines that stay are left out/),
    many: expect.stringMatching(/^Edited src\/d\.ts \+2 −2/),
    whole: expect.stringMatching(/^Wrote src\/e\.ts \+2 \+first \+second/),
    shell: expect.stringMatching(/^Ran npm test exit 1 FAIL src\/a\.test\.ts done/),
    search: expect.stringMatching(/^Searched where is tax added 1 in 1 file src\/b\.ts .*price \+ tax/),
    grep: expect.stringMatching(/^Searched tax 2 in 2 files src\/b\.ts/),
    mcp: expect.stringMatching(/^Asked postgres\.query .*id name 1 Ada "Countess"/),
    strange: expect.stringMatching(/^Called tool_of_tomorrow .*here "they" are.*inside "JSON"/),
    thought: expect.stringMatching(/^Thought I \*\*must\*\* look I must look$/),
  })
  expect(Object.entries(texts).filter(([, text]) => /\\[n"]|\{"/.test(text))).toEqual([])
  await of('shell').scrollIntoViewIfNeeded()
  expect(await of('shell').locator('.ansi-red').innerText()).toBe('FAIL')
  await of('replace').scrollIntoViewIfNeeded()
  expect(await of('replace').locator('.diff .added mark').innerText()).toMatch(/\+ tax/)
  const numbers = of('replace').locator('.diff > span')
  expect(await numbers.evaluateAll((all) => all.map((one) => one.getAttribute('data-numbers')?.trim()))).toEqual([
    expect.stringMatching(/^7 +9$/),
    '8',
    '10',
  ])
  expect(await axeViolations(page)).toEqual([])
})

test('a title is never machine text', async () => {
  const page = await place.tab()
  const titles: Record<string, string> = {}
  for (const id of Object.keys(untitled)) {
    await page.goto(`/chats/${id}`)
    titles[id] = await page.locator('h1').innerText()
  }
  expect(titles).toEqual({
    tags: 'Mend the login',
    markdown: 'Mend the *build*',
    json: 'Mend the "search" now',
    fence: 'const a = 1',
    numbers: 'Untitled chat',
    html: 'Centre a <div> in CSS',
  })
})

test('an attached image is shown beside its name, and one whose file is gone by its name alone', async () => {
  const page = await place.tab()
  await page.goto('/chats/images')
  const message = page.locator('[data-message="m"]')
  await message.getByRole('img', { name: 'there.png' }).waitFor()
  const widths = await message
    .locator('img')
    .evaluateAll((all) => all.map((one) => (one as unknown as { naturalWidth: number }).naturalWidth))
  expect(widths).toEqual([1])
  expect(await message.innerText()).toMatch(/there\.png[^]*gone\.png/)
})

import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Page } from '../../src/api/answers/common.ts'
import { headers } from '../helpers/cursor.ts'
import { call, line, lines, query, said, writePlan, writeTranscript } from '../helpers/eras/transcripts.ts'
import { World } from '../helpers/world.ts'

let world: World
beforeEach(async () => {
  world = await World.open()
})
afterEach(() => world.remove())

/** What may stand where a field is expected. */
const odd: readonly unknown[] = [null, 7, -1, true, '', ' ', 'x', '{', '[]', '{"a":', [], [null], [[]], {}, { a: {} }]
const more: readonly unknown[] = [[{}], { text: 7 }, { summary: [] }, '\ud800', { tools: 'x' }]
const harms = [...odd, ...more]

/** Every chat has a message before and one after the harmed place. */
async function readNeighbours(kind: string): Promise<unknown> {
  await world.sync()
  const total = async (q: string): Promise<number> =>
    (await world.get<Page<unknown>>(`/api/search?limit=1&q=${encodeURIComponent(q)}`)).total
  const found = [await total(`${kind}before`), await total(`${kind}after`)]
  const { issues } = await world.get<{ issues: Record<string, number> }>('/api/status')
  const issueCount = Object.values(issues).reduce((sum, count) => sum + count, 0)
  const { added, changed, gone } = await world.post<Record<string, number>>('/api/sync', { full: true })
  return { found, hasFewIssues: issueCount <= harms.length, again: [added, changed, gone] }
}

const allRead = { found: [harms.length, harms.length], hasFewIssues: true, again: [0, 0, 0] }

test.each([
  ['mcp', (harm: unknown) => call('CallMcpTool', { server: harm, toolName: harm, arguments: harm })],
  ['plan', (harm: unknown) => call('CreatePlan', { name: harm, plan: harm })],
  ['result', (harm: unknown) => ({ type: 'tool_result', tool_use_id: harm, content: harm, is_error: harm })],
  ['step', (harm: unknown) => call('updateCurrentStep', harm)],
])('a transcript whose %s is harmed is at most one issue, and everything else is read', async (kind, block) => {
  for (const [at, harm] of harms.entries()) {
    const prompt = (word: string) => line('user', said(query(`${kind}${word}`)))
    const content = lines(prompt('before'), line('assistant', block(harm)), line('user', block(harm)), prompt('after'))
    writeTranscript(world.cursorHome, 'empty-window', `${kind}-${at}.jsonl`, content)
  }
  expect(await readNeighbours(kind)).toEqual(allRead)
})

test.each([
  ['tool', (harm: unknown) => ({ toolFormerData: { name: 'call_mcp_tool', params: harm, rawArgs: harm } })],
  ['question', (harm: unknown) => ({ toolFormerData: { name: 'ask_question', result: harm, additionalData: harm } })],
  ['summary', (harm: unknown) => ({ cachedConversationSummary: harm, conversationSummary: harm })],
])('a row whose %s is harmed is at most one issue, and everything else is read', async (kind, fields) => {
  const store = world.home.global()
  for (const [at, harm] of harms.entries()) {
    const id = `${kind}-${at}`
    const facts = {
      draftTarget: { environment: harm },
      isBestOfNSubcomposer: harm,
      subagentInfo: harm,
      promptContextUsageTree: { nodes: [harm, { kind: 'category', label: harm, estimatedTokens: harm }] },
      promptTokenBreakdown: { categories: harm },
    }
    store.chat(id, { fullConversationHeadersOnly: headers(['a', 'b', 'c']), ...facts })
    store.message(id, 'a', { type: 1, text: `${kind}before` })
    store.message(id, 'b', { type: 2, text: '', ...fields(harm) })
    store.message(id, 'c', { type: 1, text: `${kind}after` })
  }
  expect(await readNeighbours(kind)).toEqual(allRead)
})

type Plan = readonly [name: string, text: string, todos?: Record<string, string>]
const harmedPlans: readonly (readonly [string, (harm: string) => Plan])[] = [
  ['name', (harm) => [harm, 'what to do']],
  ['text', (harm) => ['Kiln', `---\n${harm}\n---`]],
  ['todo', (harm) => ['Kiln', 'what to do', { [harm]: harm }]],
]
test.each(harmedPlans)(
  'a plan’s file whose %s is harmed is at most one issue, and everything else is read',
  async (kind, told) => {
    for (const [at, harm] of harms.entries()) {
      const prompt = (word: string) => line('user', said(query(`${kind}${word}`)))
      const wrote = line('assistant', call('CreatePlan', { name: 'Kiln', plan: `kiln_${at}.plan.md` }))
      writeTranscript(
        world.cursorHome,
        'empty-window',
        `${kind}-${at}.jsonl`,
        lines(prompt('before'), wrote, prompt('after')),
      )
      writePlan(world.cursorHome, `kiln_${at}.plan.md`, ...told(JSON.stringify(harm)))
    }
    expect(await readNeighbours(kind)).toEqual(allRead)
  },
)

import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { transcriptSources } from '../../../src/indexer/sources/transcripts/index.ts'
import { openWriter, type Mirror } from '../../../src/mirror/open.ts'
import { issueReasons } from '../../../src/model/issue.ts'
import {
  eraRecords,
  eraSubagentRecords,
  eraSubagentText,
  eraTextArguments,
  line,
  lines,
  said,
  writeTranscript,
} from '../../helpers/eras/transcripts.ts'
import { decode } from './decoded.ts'

let home = ''
let mirror: Mirror

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'transcripts'))
  mkdirSync(join(home, 'mirror'))
  mirror = openWriter(join(home, 'mirror', 'mirror.db'))
})

afterEach(() => {
  mirror.close()
  rmSync(home, { recursive: true, force: true })
})

const shapes = [eraTextArguments, eraRecords, eraSubagentText, eraSubagentRecords]

function contentOf(era: (typeof shapes)[number]): Buffer {
  era.write(home)
  const path = join(home, 'projects', era.slug, 'agent-transcripts', era.file)
  const content = readFileSync(path)
  rmSync(join(home, 'projects'), { recursive: true })
  return content
}

const cut = (share: number) => (content: Buffer) => content.subarray(0, Math.floor(content.length * share))
const instead = (text: string) => () => Buffer.from(text)
const entries = (...list: readonly unknown[]) => instead(JSON.stringify(list))

const harms: readonly ((content: Buffer) => Buffer)[] = [
  instead(''),
  instead(' \n\n'),
  instead('\uFEFF'),
  cut(0.1),
  cut(0.25),
  cut(0.5),
  cut(0.75),
  cut(0.9),
  (content) => content.subarray(0, -1),
  (content) => content.subarray(1),
  (content) => Buffer.concat([content, content]),
  (content) => Buffer.concat([content, Buffer.alloc(4096)]),
  (content) => Buffer.from(content.map((byte, at) => (at % 50 === 7 ? 0xff : byte))),
  (content) => Buffer.from(content.toString('utf8').replaceAll('\n', '\r\n')),
  (content) => Buffer.from(content.toString('utf8').replaceAll('\n', '')),
  (content) => Buffer.from(content.toString('utf8'), 'utf16le'),
  (content) => Buffer.concat(Array.from({ length: 3000 }, () => content)),
  (content) => Buffer.from(content.toString('utf8').replace('C', 'C'.repeat(3_000_000))),
  instead('null'),
  instead('[]'),
  entries(1, 'x', null, [[]]),
  entries({ role: 'user', text: 7 }, { role: 'assistant', toolCalls: 'x' }, { role: 'tool', toolResult: [] }),
  instead(`[{"role":"user","text":${'['.repeat(100_000)}${']'.repeat(100_000)}}]`),
  instead('[{"role":"user"}{"role":"user"}]'),
]

test.each(shapes)('any damage to $name is at most one issue, and does not affect other messages', (era) => {
  const content = contentOf(era)
  const fileOf = (at: number) => era.file.replace(/[^/]+(\.\w+)$/, `harmed-${at}$1`)
  for (const [at, harm] of harms.entries()) writeTranscript(home, era.slug, fileOf(at), harm(content))
  truncateSync(writeTranscript(home, era.slug, fileOf(99), ''), 33 * 1024 * 1024)
  writeTranscript(home, era.slug, 'neighbour.jsonl', lines(line('user', said('still here'))))
  for (const source of transcriptSources(home)) {
    const steps = source.pass(mirror, { depth: 'full', now: Date.now })
    while (steps.next().done !== true);
  }
  const issues = mirror.prepare<[], { key: string; reason: string }>('select key, reason from row_issues').all()
  expect(new Set(issues.map(({ key }) => key)).size).toBe(issues.length)
  for (const { reason } of issues) expect(issueReasons).toContain(reason)
  expect(issues).toContainEqual({ key: fileOf(0), reason: 'null-value' })
  expect(issues).toContainEqual({ key: fileOf(99), reason: 'too-large' })
  const heldOf = mirror.prepare<[string], number>('select count(*) from chats where id = ?').pluck()
  expect([heldOf.get('neighbour'), heldOf.get('harmed-8')]).toEqual([1, era.file.endsWith('.json') ? 0 : 1])
})

test.each(shapes)('truncated at any byte, $name is messages or one issue', (era) => {
  const content = contentOf(era)
  const all = decode(content).messages.length
  for (let length = 0; length <= content.length; length += 1) {
    const { messages, outline, issue } = decode(content.subarray(0, length))
    expect(messages.length).toBeLessThanOrEqual(all)
    expect(issue === null || issue === 'bad-json').toBe(true)
    expect(outline?.length === 0 || issue === null).toBe(true)
  }
})

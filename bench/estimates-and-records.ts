import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { runPasses } from '../src/engine/writer/run-passes.ts'
import { discoverSources } from '../src/indexer/discover.ts'
import { readUncounted } from '../src/mirror/usage/estimates.ts'
import { openWriter, type Mirror } from '../src/mirror/open.ts'
import { TokenCounter } from '../src/text/tokens/count-tokens.ts'
import { writeDemoHome } from '../src/sample/demo-home.ts'
import { spokenTexts } from '../src/text/passages/spoken-texts.ts'
import { percentile, short, table } from './statistics.ts'
import type { Workshop } from './workshop.ts'

interface ThreadMessage {
  readonly key: number
  readonly chat: number
  readonly role: string
  readonly recordedInput: number | null
  readonly recordedOutput: number | null
}

const THREADS = `
select key, chat, role, input_tokens as recordedInput, output_tokens as recordedOutput
from messages where is_orphan = 0 order by chat, position
`

/** Of one turn: what was recorded on its last answer, and what can be counted. */
interface Turn {
  readonly recordedInput: number
  readonly recordedOutput: number
  /** What the user wrote and tools returned since the turn before. */
  readonly ownInput: number
  /** All text of the chat before the last answer, read as one prompt. */
  readonly contextInput: number
  /** What the model wrote in the whole turn. */
  readonly output: number
}

/**
 * How far estimates are from Cursor's own counts where a store has both. Of a store of your own with `--user-dir`; else of
 * the sample, whose counts are made up in the range of real ones and say nothing of its texts.
 */
export function compareEstimates(shop: Workshop): void {
  const folder = shop.folder()
  const given = shop.recordedUserDir
  const userDir = given ?? writeDemoHome(join(folder, 'cursor'), { seed: 'bench', nowMs: Date.UTC(2026, 1, 1) }).userDir
  const mirror = openWriter(join(folder, 'mirror.db'))
  try {
    const places = { userDirs: [userDir], homes: [], disabledKinds: [] }
    const sources = discoverSources(places).map(({ id }) => ({ id, depth: 'full' as const }))
    const passes = runPasses(mirror, places, { kind: 'run', sources, backlogMs: 0 }, Date.now)
    for (let next = passes.next(); next.done !== true;) next = passes.next()
    const turns = listTurns(mirror)
    const spread = (name: string, ratios: readonly number[]): string[] => [
      name,
      String(ratios.length),
      ...[10, 50, 90].map((percent) => short(percentile(ratios, percent))),
    ]
    const outputs = turns.filter(({ recordedOutput }) => recordedOutput > 0)
    const inputs = turns.filter(({ recordedInput }) => recordedInput > 0)
    const rows = [
      spread(
        'output: all that the turn wrote',
        outputs.map((turn) => turn.output / turn.recordedOutput),
      ),
      spread(
        'input: what was new in the turn',
        inputs.map((turn) => turn.ownInput / turn.recordedInput),
      ),
      spread(
        'input: all visible text before the answer',
        inputs.map((turn) => turn.contextInput / turn.recordedInput),
      ),
    ]
    shop.say(
      `\nestimate / recorded, ${given === null ? 'the sample, whose recorded counts are made up; --user-dir names a store with real ones' : userDir}`,
    )
    shop.say(table(['what is counted', 'turns', 'p10', 'p50', 'p90'], rows))
  } finally {
    mirror.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function listTurns(mirror: Mirror): Turn[] {
  const turns: Turn[] = []
  let [chat, context, ownInput, output] = [-1, 0, 0, 0]
  for (const message of mirror.prepare<[], ThreadMessage>(THREADS).all()) {
    if (message.chat !== chat) [chat, context, ownInput, output] = [message.chat, 0, 0, 0]
    if (message.role === 'user') [ownInput, output] = [0, 0]
    const counts = countMessage(mirror, message.key)
    ownInput += counts.input
    output += counts.output
    const { recordedInput, recordedOutput } = message
    if (recordedInput !== null && recordedOutput !== null) {
      turns.push({ recordedInput, recordedOutput, ownInput, output, contextInput: context + counts.input })
    }
    context += counts.input + counts.output
  }
  return turns
}

function countMessage(mirror: Mirror, key: number): { readonly input: number; readonly output: number } {
  const message = readUncounted(mirror, key)
  if (message === null) return { input: 0, output: 0 }
  const { input, output } = spokenTexts(message.role, message.parts)
  return { input: count(input), output: count(output) }
}

const counter = new TokenCounter()
const count = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => {
    const steps = counter.counting(text)
    for (let next = steps.next(); ; next = steps.next()) if (next.done === true) return sum + next.value
  }, 0)

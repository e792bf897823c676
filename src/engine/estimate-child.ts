import { constants, setPriority } from 'node:os'
import {
  countUncounted,
  listUncounted,
  readUncounted,
  type Estimate,
  type Uncounted,
} from '../mirror/usage/estimates.ts'
import { openReader, type Mirror } from '../mirror/open.ts'
import { isDamage } from '../mirror/maintenance/check-pages.ts'
import { spokenTexts } from '../text/passages/spoken-texts.ts'
import { endWithParent } from './end-with-parent.ts'
import type { EstimateOrder, EstimateReply } from './estimate-messages.ts'

/**
 * A process that counts the tokens of messages, a slice at a time and only when told to. A process, because what
 * it takes is given back when all is counted, and because the system can let all others go first.
 */
const path = process.argv[2]
if (path === undefined) throw new Error('this file runs as a child of the daemon')
setPriority(constants.priority.PRIORITY_LOW)

const PAGE = 500
/** So many counts are handed over at once. */
const ESTIMATES_MAX = 400
/** At most so many were handed over and not written yet: they are written as soon as one slice of them has come. */
const UNWRITTEN_MAX = 2 * ESTIMATES_MAX
const ABOVE_ALL = Number.MAX_SAFE_INTEGER

type CountingTokens = (text: string) => Generator<void, number>
/** A step ends with a message's counts, or amid one. */
type Work = Generator<Estimate | null, void>

let work: Work | null = null
let left = 0

process.on('message', (order: EstimateOrder) => {
  void answer(order).then((reply) => process.send?.(reply))
})
// The daemon is gone, however it ended.
endWithParent()

async function answer({ sliceMs }: EstimateOrder): Promise<EstimateReply> {
  try {
    work ??= await begin(openReader(path ?? '', 2000))
    return slice(work, sliceMs)
  } catch (error) {
    return {
      kind: 'failed',
      message: error instanceof Error ? error.message : String(error),
      isDamage: isDamage(error),
    }
  }
}

/** The tokenizer is loaded only where there is something to count. */
async function begin(mirror: Mirror): Promise<Work> {
  left = countUncounted(mirror)
  if (left === 0) return nothing()
  const { TokenCounter } = await import('../text/tokens/count-tokens.ts')
  const counter = new TokenCounter()
  return countAll(mirror, (text) => counter.counting(text))
}

// oxlint-disable-next-line no-empty-function
function* nothing(): Work {}

function slice(steps: Work, sliceMs: number): EstimateReply {
  const estimates: Estimate[] = []
  const endsAt = performance.now() + sliceMs
  while (performance.now() < endsAt && estimates.length < ESTIMATES_MAX) {
    const next = steps.next()
    if (next.done === true) return { kind: 'slice', estimates, left: 0, isDone: true }
    if (next.value !== null) estimates.push(next.value)
  }
  left = Math.max(0, left - estimates.length)
  return { kind: 'slice', estimates, left, isDone: false }
}

/**
 * The newest first. What came or changed meanwhile is met from the top again, until nothing is met. The first walk, of
 * perhaps half a million messages, remembers the last of them only: the others are written when the next walk begins.
 */
function* countAll(mirror: Mirror, counting: CountingTokens): Work {
  const counted = new Set<string>()
  for (let isNew = true, isFirst = true; isNew; isFirst = false) {
    isNew = false
    for (let keys = listUncounted(mirror, ABOVE_ALL, PAGE); keys.length > 0;) {
      for (const key of keys) {
        const message = readUncounted(mirror, key)
        // Counts that wait to be written are not made twice.
        if (message === null || counted.has(stateOf(message))) continue
        counted.add(stateOf(message))
        if (isFirst && counted.size > UNWRITTEN_MAX) forgetFirst(counted)
        isNew = true
        yield* countMessage(message, counting)
      }
      yield null
      keys = listUncounted(mirror, keys.at(-1) ?? 0, PAGE)
    }
  }
}

function forgetFirst(counted: Set<string>): void {
  const [first] = counted
  if (first !== undefined) counted.delete(first)
}

const stateOf = ({ key, role, contentHash, octets }: Uncounted): string => `${key} ${role} ${contentHash} ${octets}`

function* countMessage({ role, parts, ...state }: Uncounted, counting: CountingTokens): Work {
  const { input, output } = spokenTexts(role, parts)
  yield {
    key: state.key,
    role,
    body: state.body,
    contentHash: state.contentHash,
    octets: state.octets,
    input: yield* countTexts(input, counting),
    output: yield* countTexts(output, counting),
  }
}

function* countTexts(texts: readonly string[], counting: CountingTokens): Generator<null, number> {
  let sum = 0
  for (const text of texts) {
    const steps = counting(text)
    for (let next = steps.next(); ; next = steps.next()) {
      if (next.done === true) {
        sum += next.value
        break
      }
      yield null
    }
  }
  return sum
}

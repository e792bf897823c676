import {
  countUncounted,
  listUncounted,
  readUncounted,
  type Estimate,
  type Uncounted,
} from '../../mirror/usage/estimates.ts'
import type { Mirror } from '../../mirror/open.ts'
import { spokenTexts } from '../../text/passages/spoken-texts.ts'
import type { Job } from './job.ts'

export interface EstimateInput {
  /** How long to count, in milliseconds. */
  readonly sliceMs: number
}

export interface EstimateSlice {
  readonly estimates: readonly Estimate[]
  /** How many messages still have no count. */
  readonly left: number
  readonly isDone: boolean
}

const CACHE_KB = 2000
const PAGE = 500
/** How many counts one slice returns at most. */
const ESTIMATES_MAX = 400
/** How many counts may be returned and not yet written. The caller writes them after each slice. */
const UNWRITTEN_MAX = 2 * ESTIMATES_MAX
const ABOVE_ALL = Number.MAX_SAFE_INTEGER

type CountingTokens = (text: string) => Generator<void, number>
/** A step ends with the counts of a message, or in the middle of one. */
type Work = Generator<Estimate | null, void>

/** Unfinished counts, by the connection that they read from. */
const unfinished = new WeakMap<Mirror, { readonly work: Work; left: number }>()

/** Counts the tokens of messages for a while. The next slice on the same connection continues where this one ended. */
// oxlint-disable-next-line require-yield
export const estimateJob: Job<EstimateInput, EstimateSlice> = async function* ({ sliceMs }, context) {
  const mirror = context.mirror(CACHE_KB)
  const count = unfinished.get(mirror) ?? (await begin(mirror))
  unfinished.set(mirror, count)
  const estimates: Estimate[] = []
  const endsAt = performance.now() + sliceMs
  while (performance.now() < endsAt && estimates.length < ESTIMATES_MAX) {
    const next = count.work.next()
    if (next.done === true) {
      unfinished.delete(mirror)
      return { estimates, left: 0, isDone: true }
    }
    if (next.value !== null) estimates.push(next.value)
  }
  count.left = Math.max(0, count.left - estimates.length)
  return { estimates, left: count.left, isDone: false }
}

/** The tokenizer is loaded only if there is something to count. */
async function begin(mirror: Mirror): Promise<{ work: Work; left: number }> {
  const left = countUncounted(mirror)
  if (left === 0) return { work: nothing(), left }
  const { TokenCounter } = await import('../../text/tokens/count-tokens.ts')
  const counter = new TokenCounter()
  return { work: countAll(mirror, (text) => counter.counting(text)), left }
}

// oxlint-disable-next-line no-empty-function
function* nothing(): Work {}

/**
 * Counts newest first. Another walk from the top finds messages that arrived or changed meanwhile, until a walk finds
 * none. The first walk can go over half a million messages, so it remembers only the last ones. The others are written
 * before the next walk begins.
 */
function* countAll(mirror: Mirror, counting: CountingTokens): Work {
  const counted = new Set<string>()
  for (let isNew = true, isFirst = true; isNew; isFirst = false) {
    isNew = false
    for (let keys = listUncounted(mirror, ABOVE_ALL, PAGE); keys.length > 0;) {
      for (const key of keys) {
        const message = readUncounted(mirror, key)
        // Skips a message whose count is not written yet.
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

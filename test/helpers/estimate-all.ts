import { listUncounted, readUncounted, saveEstimates } from '../../src/mirror/usage/estimates.ts'
import { openWriter, type Mirror } from '../../src/mirror/open.ts'
import { TokenCounter } from '../../src/text/tokens/count-tokens.ts'
import { spokenTexts } from '../../src/text/passages/spoken-texts.ts'

const counter = new TokenCounter()

export function countText(text: string): number {
  const steps = counter.counting(text)
  for (let next = steps.next(); ; next = steps.next()) if (next.done === true) return next.value
}

const sum = (texts: readonly string[]): number => texts.reduce((tokens, text) => tokens + countText(text), 0)

/** Counts all waiting messages in the test's own process. @returns how many messages were counted */
export function estimateAll(mirror: Mirror): number {
  const estimates = listUncounted(mirror, Number.MAX_SAFE_INTEGER, 1_000_000).flatMap((key) => {
    const message = readUncounted(mirror, key)
    if (message === null) return []
    const { input, output } = spokenTexts(message.role, message.parts)
    return [{ ...message, input: sum(input), output: sum(output) }]
  })
  return saveEstimates(mirror, estimates)
}

/** The same in the mirror of this path. */
export function estimateAllAt(mirrorPath: string): number {
  const writer = openWriter(mirrorPath)
  try {
    return estimateAll(writer)
  } finally {
    writer.close()
  }
}

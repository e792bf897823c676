import { lintSource } from '@secretlint/core'
import { secretLintProfiler } from '@secretlint/profiler'
import { rules as preset } from '@secretlint/secretlint-rule-preset-recommend'
import { asRead } from './as-read.ts'
import { findPrivateKeys, type SecretSpan } from './private-keys.ts'
import { rules } from './rules.ts'

/** Some 30 ms, and as much again where it holds escapes; between two windows others have their turn. UTF-16 units. */
const WINDOW_LENGTH = 512 * 1024
/** No secret is longer: each is whole in one window at least. */
const OVERLAP = 32 * 1024

/**
 * Off: it notes every step of every text, keeps the notes as long as the process runs, and searches them all at each. The
 * thousandth message took 20 ms and 80 KB by it; the rules take a tenth of a millisecond, and nothing stays.
 */
secretLintProfiler.mark = () => {}

/** Not the one that looks away where a text tells linters to: that is no word of the person who shares it. */
const rulesOfOthers = preset.filter(({ meta }) => meta.id !== '@secretlint/secretlint-rule-filter-comments')
const config = { rules: rulesOfOthers.map((rule) => ({ id: rule.meta.id, rule })) }
const options = { config, noPhysicFilePath: true }
const source = { filePath: '/text.txt', contentType: 'text', ext: '.txt' } as const

/**
 * The secrets in a text, in order, none within another. Our rules say first what a thing is, those that are kept by
 * others find more.
 */
export async function* findSecrets(text: string): AsyncGenerator<void, readonly SecretSpan[]> {
  const spans: SecretSpan[] = []
  for (let at = 0; at === 0 || at + OVERLAP < text.length; at += WINDOW_LENGTH - OVERLAP) {
    const window = at === 0 && text.length <= WINDOW_LENGTH ? text : text.slice(at, at + WINDOW_LENGTH)
    for (const { kind, start, end } of await findIn(window)) {
      spans.push({ kind, start: start + at, end: end + at })
    }
    yield
  }
  return joined(spans).map((span) => withoutEscape(span, text))
}

/** A backslash before the quote behind a secret is of the quote: without it JSON within JSON is none any more. */
function withoutEscape({ kind, start, end }: SecretSpan, text: string): SecretSpan {
  let last = end
  if (/["'`]/.test(text.charAt(end))) while (last > start + 1 && text.charAt(last - 1) === '\\') last -= 1
  return { kind, start, end: last }
}

/** As it stands, and as it is read: a secret may hold what looks like an escape, and begin behind one. */
async function findIn(text: string): Promise<SecretSpan[]> {
  const found = [...findOurs(text), ...(await findTheirs(text))]
  const reading = asRead(text)
  if (reading === null) return found
  const read = [...findOurs(reading.text), ...(await findTheirs(reading.text))]
  return [...found, ...read.map((span) => reading.given(span))]
}

function findOurs(text: string): SecretSpan[] {
  const spans = findPrivateKeys(text)
  for (const { kind, shape, isSecret } of rules) {
    for (const match of text.matchAll(shape)) {
      const secret = match.groups?.['secret'] ?? match[0]
      if (isSecret?.(secret) === false) continue
      const end = match.index + match[0].length
      spans.push({ kind, start: end - secret.length, end })
    }
  }
  return spans
}

const RULE_PREFIX = /^@secretlint\/secretlint-rule-/

async function findTheirs(text: string): Promise<SecretSpan[]> {
  const { messages } = await lintSource({ source: { ...source, content: text }, options })
  return messages.flatMap(({ type, ruleId, range: [start, end] }) =>
    type === 'message' && end > start ? [{ kind: ruleId.replace(RULE_PREFIX, ''), start, end }] : [],
  )
}

/** Those that overlap are one, of the kind that was named first. */
function joined(spans: readonly SecretSpan[]): SecretSpan[] {
  const ordered = spans.map((span, rank) => ({ ...span, rank })).sort((a, b) => a.start - b.start || a.rank - b.rank)
  const found: (SecretSpan & { rank: number })[] = []
  for (const span of ordered) {
    const last = found.at(-1)
    if (last === undefined || span.start >= last.end) {
      found.push(span)
      continue
    }
    const first = span.rank < last.rank ? span : last
    found[found.length - 1] = {
      kind: first.kind,
      rank: first.rank,
      start: last.start,
      end: Math.max(last.end, span.end),
    }
  }
  return found
}

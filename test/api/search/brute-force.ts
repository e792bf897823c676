import type { Part } from '../../../src/model/part.ts'
import { searchColumns } from '../../../src/text/terms/columns.ts'
import { visitLoweredWords, tokenize } from '../../../src/text/terms/terms.ts'
import { DAY_MS, modelNames, NOW_MS, toolNames, type PlainCorpus, type PlainMessage } from './plain-corpus.ts'

const stars = { '': ['', ''], start: ['*', ''], end: ['', '*'], both: ['*', '*'] } as const

/** A second implementation of the query language, with its own tree. */
export type Asked =
  | { readonly is: 'word'; readonly text: string; readonly star: keyof typeof stars }
  | { readonly is: 'field'; readonly name: string; readonly value: string }
  | { readonly is: 'not'; readonly of: Asked }
  | { readonly is: 'and' | 'or'; readonly all: readonly Asked[] }

export function write(asked: Asked): string {
  switch (asked.is) {
    case 'word': {
      const text = asked.text.includes(' ') ? `"${asked.text}"` : asked.text
      const [before, behind] = stars[asked.star]
      return `${before}${text}${behind}`
    }
    case 'field':
      return asked.value.includes(' ') ? `${asked.name}:"${asked.value}"` : `${asked.name}:${asked.value}`
    case 'not':
      return `-${asked.of.is === 'not' ? `(${write(asked.of)})` : write(asked.of)}`
    default:
      return `(${asked.all.map(write).join(asked.is === 'or' ? ' OR ' : ' ')})`
  }
}

/** The terms of each text. A camelCase word also has the terms of its other spellings. */
type Texts = readonly (readonly string[])[]
type Document = Readonly<Record<string, Texts>>

function textsOf(text: string): Texts {
  const lowered: string[] = []
  visitLoweredWords(text, (word) => lowered.push(word))
  return [text, ...lowered].map((each) => tokenize(each).map((term) => term.term))
}

const documents = new WeakMap<PlainMessage, Document>()

/** Treats text between fences as code. */
function unfenced(part: Part): readonly Part[] {
  if (part.kind !== 'text') return [part]
  const pieces = part.text.split(/^(```[^]*?^```)$/m)
  return pieces.map((text, at) =>
    at % 2 === 0 ? { ...part, text } : { kind: 'code', language: null, path: null, text },
  )
}

function messageDocument(message: PlainMessage): Document {
  const columns = Object.entries(searchColumns(message.parts.flatMap(unfenced)))
  const document = documents.get(message) ?? Object.fromEntries(columns.map(([name, text]) => [name, textsOf(text)]))
  documents.set(message, document)
  return document
}

interface Verdict {
  readonly holds: boolean
  /** Whether a word of the query was found. */
  readonly byWord: boolean
}

type Places = readonly string[]
const everywhere: Places = ['text', 'code', 'tool', 'thinking', 'attachment', 'title']

function judge(asked: Asked, places: Places, words: Document, message: PlainMessage, isNot: boolean): Verdict {
  switch (asked.is) {
    case 'word': {
      const isMet = Object.entries(words).some(
        ([name, texts]) => places.includes(name) && texts.some((terms) => isIn(asked, terms)),
      )
      return { holds: isMet !== isNot, byWord: isMet && !isNot }
    }
    case 'field':
      return { holds: passes(asked.name, asked.value, message) !== isNot, byWord: false }
    case 'not':
      return judge(asked.of, places, words, message, !isNot)
    default: {
      const verdicts =
        asked.is === 'or'
          ? asked.all.map((each) => judge(each, places, words, message, isNot))
          : judgeGroup(asked.all, places, words, message, isNot)
      const isAll = (asked.is === 'and') !== isNot
      const holds = isAll ? verdicts.every((each) => each.holds) : verdicts.some((each) => each.holds)
      return { holds, byWord: holds && verdicts.some((each) => each.holds && each.byWord) }
    }
  }
}

const namesPlace = (asked: Asked): boolean =>
  asked.is === 'not' ? namesPlace(asked.of) : asked.is === 'field' && asked.name === 'in'
const saysWords = (asked: Asked): boolean => {
  if (asked.is === 'not') return saysWords(asked.of)
  return asked.is === 'and' || asked.is === 'or' ? asked.all.some(saysWords) : asked.is === 'word'
}
const straight = (asked: Asked): Asked => (asked.is === 'not' && asked.of.is === 'not' ? straight(asked.of.of) : asked)
const flat = (all: readonly Asked[]): readonly Asked[] =>
  all.map(straight).flatMap((each) => (each.is === 'and' ? flat(each.all) : [each]))

function judgeGroup(
  all: readonly Asked[],
  places: Places,
  words: Document,
  message: PlainMessage,
  isNot: boolean,
): readonly Verdict[] {
  const together = flat(all)
  const others = together.filter((each) => !namesPlace(each))
  const isRestricted = others.some(saysWords)
  const named = isRestricted ? together.filter(namesPlace) : []
  const wanted = new Set(named.flatMap((each) => (each.is === 'field' ? [each.value] : [])))
  const unwanted = new Set(
    named.flatMap((each) => (each.is === 'not' && each.of.is === 'field' ? [each.of.value] : [])),
  )
  const within = places.filter((name) => (wanted.size === 0 || wanted.has(name)) && !unwanted.has(name))
  const asked = isRestricted ? others : together
  const fields = new Map<string, Asked[]>()
  for (const each of asked) if (each.is === 'field') fields.set(each.name, [...(fields.get(each.name) ?? []), each])
  const merged = [
    ...asked.filter((each) => each.is !== 'field'),
    ...[...fields.values()].map((any) => ({ is: 'or', all: any }) as const),
  ]
  return merged.map((each) => judge(each, within, words, message, isNot))
}

function isIn({ text, star }: Extract<Asked, { is: 'word' }>, terms: readonly string[]): boolean {
  const lower = text.toLowerCase()
  if (star === '' || star === 'end') {
    if (star === 'end' && /^[\da-f]+$/.test(text) && terms.some((term) => term.startsWith(text))) return true
    return spellings(text).some((each) => stands(cut(each), terms, star === 'end'))
  }
  if (terms.some((term) => (star === 'both' ? term.includes(lower) : term.endsWith(lower)))) return true
  const [first = '', ...rest] = cut(text)
  const standsAt = (term: string, at: number): boolean =>
    term.endsWith(first) && stands([term, ...rest], terms.slice(at, at + 1 + rest.length), star === 'both')
  return rest.length > 0 && terms.some(standsAt)
}

const known = new Map<string, readonly string[]>()

/** Cached, because each word is looked for in hundreds of messages. */
function cut(text: string): readonly string[] {
  const terms = known.get(text) ?? tokenize(text).map((term) => term.term)
  known.set(text, terms)
  return terms
}

/** The spellings of a word: as typed, and in lower case with all parts or two neighbours joined. */
function spellings(text: string): readonly string[] {
  const joint = /(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-z])[_-](?=[a-z])/
  const pieces = text.split(joint).map((piece) => piece.toLowerCase())
  const single = pieces.map((_, joined) =>
    pieces.reduce((sum, piece, at) => `${sum}${at === joined ? '' : ' '}${piece}`),
  )
  return [text, pieces.join(''), ...single]
}

function stands(wanted: readonly string[], terms: readonly string[], isStart: boolean): boolean {
  const isUnspaced = /\p{Script=Han}/u.test(wanted.join(''))
  const core = isUnspaced && wanted.length > 1 ? wanted.slice(0, -1) : wanted
  return terms.some((_, at) =>
    core.every((term, index) => {
      const other = terms[at + index] ?? ''
      return other === term || ((isStart || isUnspaced) && index === core.length - 1 && other.startsWith(term))
    }),
  )
}

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z\d]+/g, ' ')

function namesMeant(value: string, names: readonly string[]): readonly string[] {
  const exact = names.filter((name) => plain(name) === plain(value))
  if (exact.length > 0) return exact
  const wanted = tokenize(value).map((term) => term.term)
  return names.filter((name) => textsOf(name).some((terms) => stands(wanted, terms, value.endsWith('*'))))
}

function passes(name: string, value: string, { chat, ...message }: PlainMessage): boolean {
  const { parts } = message
  const calls = parts.filter((part) => part.kind === 'tool')
  switch (name) {
    case 'project':
      return chat.project !== null && [chat.project, `/${chat.project}`].includes(value)
    case 'chat':
      return chat.id === value
    case 'branch':
      return chat.branch === value
    case 'role':
      return message.role === value
    case 'mode':
      return chat.mode !== null && namesMeant(value, ['agent', 'ask']).includes(chat.mode)
    case 'model':
      return namesMeant(value, modelNames).includes(message.model ?? chat.model ?? '')
    case 'tool':
      return calls.some((call) => namesMeant(value, toolNames).includes(call.name))
    case 'path': {
      const named = parts.flatMap((part) =>
        'paths' in part ? part.paths : 'path' in part && part.path !== null ? [part.path] : [],
      )
      const wanted = tokenize(value).map((term) => term.term)
      return named
        .flatMap((path) => [path, path.toLowerCase()])
        .some((path) =>
          stands(
            wanted,
            tokenize(path).map((term) => term.term),
            value.endsWith('*'),
          ),
        )
    }
    case 'in':
      if (value === 'code' && parts.some((part) => part.kind === 'text' && part.text.includes('```'))) return true
      return parts.some(({ kind }) => (kind === 'error' || kind === 'todo' ? 'text' : kind) === value)
    case 'has':
      if (value === 'thinking') return parts.some(({ kind }) => kind === 'thinking')
      if (value === 'error')
        return parts.some(({ kind }) => kind === 'error') || calls.some(({ status }) => status === 'error')
      return parts.some((part) => part.kind === 'code' || (part.kind === 'text' && part.text.includes('```')))
    case 'is':
      if (value === 'archived') return chat.isArchived
      if (value === 'subagent') return chat.isSubagent
      return value === 'orphan' ? message.isOrphan : !message.isLive || !chat.isLive
    default:
      return message.timeMs !== null && isAt(name, value, message.timeMs)
  }
}

function isAt(relation: string, value: string, timeMs: number): boolean {
  const today = Math.floor(NOW_MS / DAY_MS) * DAY_MS
  const stretches: Readonly<Record<string, readonly [number, number]>> = {
    today: [today, today + DAY_MS],
    '7d': [today - 7 * DAY_MS, today + DAY_MS],
    '2026-01': [Date.UTC(2026, 0, 1), Date.UTC(2026, 1, 1)],
    '2026-01-10': [Date.UTC(2026, 0, 10), Date.UTC(2026, 0, 11)],
    'last week': [Date.UTC(2026, 0, 12), Date.UTC(2026, 0, 19)],
  }
  const [start, end] = stretches[value] ?? [0, 0]
  if (relation === 'before') return timeMs < start
  return timeMs >= start && (relation === 'after' || timeMs < end)
}

/** A single node in parentheses is the node itself, whether the group was `and` or `or`. */
function withoutBrackets(asked: Asked): Asked {
  if (asked.is === 'not') return { is: 'not', of: withoutBrackets(asked.of) }
  if (asked.is !== 'and' && asked.is !== 'or') return asked
  const all = asked.all.map(withoutBrackets)
  const [only] = all
  return all.length === 1 && only !== undefined ? only : { is: asked.is, all }
}

/** What a search must find: `m1`, or `chat1 m2` for a title that is shown with `m2`. */
export function findByForce({ chats, messages }: PlainCorpus, asked: Asked): readonly string[] {
  const group: Asked = { is: 'and', all: [withoutBrackets(asked)] }
  const found = messages.filter((message) => judge(group, everywhere, messageDocument(message), message, false).holds)
  const titled = chats.flatMap((chat) => {
    if (found.some((message) => message.chat === chat)) return []
    const texts = [...textsOf(chat.title), ...(chat.summary === null ? [] : textsOf(chat.summary))]
    const carrier = messages.find((message) => {
      if (message.chat !== chat || message.isOrphan) return false
      const { holds, byWord } = judge(group, everywhere, { title: texts }, message, false)
      return holds && byWord
    })
    return carrier === undefined ? [] : [`${chat.id} ${carrier.id}`]
  })
  return [...found.map((message) => message.id), ...titled].sort()
}

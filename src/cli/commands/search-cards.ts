import type { RelatedChat, SearchHit } from '../../api/answers/search.ts'
import { printableLine } from '../../text/printable.ts'
import { atLeast } from './lists.ts'
import { cutTo, displayWidth, wrapLine } from '../terminal/text.ts'
import { countText, machineText, shortIds, timeText } from '../terminal/formats.ts'
import type { Screen } from '../terminal/screen.ts'

const PASSAGES_MAX = 3
/** Columns before a passage: an indent, the longest role and a gap. */
const LABEL_WIDTH = 'assistant'.length
const INDENT = 2 + LABEL_WIDTH + 2
const TITLE_MIN = 20
const PROJECT_MAX = 24

type Hit = SearchHit & Partial<Pick<RelatedChat, 'missing'>>

/**
 * The hits of each chat as a card: a line about the chat, then its best passages. The chats keep the order of their
 * first hits.
 */
export function renderCards(hits: readonly Hit[], screen: Screen): string {
  const width = screen.width ?? Infinity
  const short = shortIds(hits.map(({ chat }) => chat.id))
  const messageId = shortIds(hits.map(({ message }) => message.id))
  const byChat = new Map<string, Hit[]>()
  for (const hit of hits) byChat.set(hit.chat.id, [...(byChat.get(hit.chat.id) ?? []), hit])
  const cards = [...byChat].map(([id, ofChat]) => {
    const best = ofChat.slice(0, PASSAGES_MAX)
    const passages = best.flatMap((hit) => renderPassage(hit, messageId(hit.message.id), width, screen))
    const more = ofChat.length - best.length
    const rest = more > 0 ? [screen.colours.dim(`${' '.repeat(INDENT)}and ${countText(more, 'more message')}`)] : []
    return [headOf(short(id), ofChat, width, screen), ...passages, ...rest].map((line) => `${line}\n`).join('')
  })
  return cards.join('\n')
}

/** Id, title, project, machine if it is another, and age on one line. A long title is cut, then a long project. */
function headOf(id: string, [hit]: readonly Hit[], width: number, screen: Screen): string {
  if (hit === undefined) return ''
  const { bold, cyan, dim } = screen.colours
  const shownId = printableLine(id)
  const counted = atLeast(hit.matchCountIsExact !== false, countText(hit.matchCount ?? 1, 'match', 'matches'))
  const matches = (hit.matchCount ?? 1) > 1 ? [counted] : []
  const project = hit.project === null ? [] : [cutTo(printableLine(hit.project.name), PROJECT_MAX)]
  const machine = hit.chat.machine === null ? [] : [cutTo(printableLine(machineText(hit.chat.machine)), PROJECT_MAX)]
  const facts = [...project, ...machine, timeText(hit.message.createdAt, screen), ...matches]
  const room = width - displayWidth(shownId) - 2
  const tail = cutTo(` · ${facts.join(' · ')}`, Math.max(0, room - TITLE_MIN))
  const title = cutTo(printableLine(hit.chat.title), room - displayWidth(tail))
  return `${cyan(shownId)}  ${bold(title)}${dim(tail)}`
}

/** The role, the passage, and the short id of the message for `show --around`. */
function renderPassage(hit: Hit, shortId: string, width: number, screen: Screen): string[] {
  const { message, part, toolName, snippet, missing } = hit
  const { bold, dim, yellow } = screen.colours
  const kind = part === 'text' ? '' : `${part === 'tool' && toolName !== null ? printableLine(toolName) : part}: `
  const passage = snippetText(snippet, (text) => bold(yellow(text)))
  const lines = wrapLine(`${kind && dim(kind)}${passage} ${dim(`@${printableLine(shortId)}`)}`, width - INDENT)
  const lacks = (missing ?? []).length === 0 ? [] : [dim(cutTo(`without ${missing?.join(' ') ?? ''}`, width - INDENT))]
  return [...lines, ...lacks].map((line, index) => {
    return index === 0 ? `  ${dim(message.role.padEnd(LABEL_WIDTH))}  ${line}` : `${' '.repeat(INDENT)}${line}`
  })
}

const CHARACTERS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** A snippet, which is escaped HTML with `<mark>` around the hits, as one printable line. */
export const snippetText = (snippet: string, paint: (hit: string) => string): string =>
  printableLine(snippet)
    // A `<mark>` in the text itself is escaped, so each tag found here is a real one.
    .replaceAll(/<mark>(.+?)<\/mark>/g, (_, hit: string) => paint(hit))
    .replaceAll(/<\/?mark>/g, '')
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (entity, name: string) => CHARACTERS[name] ?? entity)

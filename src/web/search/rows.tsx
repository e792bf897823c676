import type { ComponentChildren } from 'preact'
import type { Chat } from '../../api/answers/chats.ts'
import type { RelatedChat, SearchHit } from '../../api/answers/search.ts'
import { atLeast, cut, day, dayHeading, plural, timeOfDay, titleOf, visible } from '../lib/format.ts'
import { Dot, MachineTag, PlusMinus, Snippet } from '../lib/parts.tsx'
import { type Asked, openedAddress } from './asked.ts'
import { type Found, isHit } from './use-found.ts'

/** A row of the list. Headings belong to no chat, and their id is null. */
export type RowItem = { readonly key: string; readonly at: number } & (
  | { readonly kind: 'heading'; readonly id: null; readonly words: string }
  | { readonly kind: 'chat'; readonly id: string; readonly chat: Chat; readonly isDated: boolean }
  | { readonly kind: 'hit'; readonly id: string; readonly hit: SearchHit | RelatedChat }
)

/** In rem, so that rows grow with the letters. */
export const heightOf = (row: RowItem): number =>
  row.kind === 'heading' ? 2 : row.kind === 'hit' ? 6 : row.chat.summary === null ? 3.5 : 4.75

export function rowsOf({ items, answer, isEnd }: Found, { sort }: Asked): readonly RowItem[] {
  const isByDay = answer === null && (sort === '' || sort === 'oldest')
  const rows: RowItem[] = []
  let heading = ''
  items.forEach((item, at) => {
    if (isHit(item)) {
      // By its place: what the next letter finds comes into the same rows, and none of them moves.
      rows.push({ kind: 'hit', key: `hit ${at}`, id: item.chat.id, at, hit: item })
      return
    }
    const words = isByDay ? dayHeading(item.lastActivityAt) : ''
    if (words !== heading) rows.push({ kind: 'heading', key: `day ${words} ${at}`, id: null, at: -1, words })
    heading = words
    rows.push({ kind: 'chat', key: item.id, id: item.id, at, chat: item, isDated: isByDay })
  })
  const related = isEnd ? (answer?.related ?? []) : []
  if (related.length > 0) {
    const words = items.length === 0 ? 'Closest chats' : 'Also close, without some of the words'
    rows.push({ kind: 'heading', key: `related ${items.length}`, id: null, at: -1, words })
  }
  related.forEach((hit, index) =>
    rows.push({ kind: 'hit', key: `related ${items.length} ${index}`, id: hit.chat.id, at: items.length + index, hit }),
  )
  return rows
}

interface RowProps {
  readonly row: RowItem
  /** The address of the list: what it asks for stays when a chat is opened. */
  readonly url: string
  readonly isOpen: boolean
}

export function Row({ row, url, isOpen }: RowProps) {
  if (row.kind === 'heading') return <h2 class="row-heading">{row.words}</h2>
  const [title, date, words, facts, address] =
    row.kind === 'hit' ? hitRow(row.hit, url, row.at) : chatRow(row.chat, url, row.at, row.isDated)
  return (
    <a data-hit data-at={row.at} class="row-link" href={address} aria-current={isOpen ? 'true' : undefined}>
      <span class="row-head">
        <b class="row-title" dir="auto">
          {titleOf(title)}
        </b>
        <span class="row-date">{date}</span>
      </span>
      {words}
      <span class="row-facts">{facts}</span>
    </a>
  )
}

type RowParts = readonly [
  title: string,
  date: string,
  words: ComponentChildren,
  facts: ComponentChildren,
  address: string,
]

function chatRow(chat: Chat, url: string, at: number, isDated: boolean): RowParts {
  const { title, summary, lastActivityAt: last, linesAdded: added, linesRemoved: removed } = chat
  return [
    title,
    last === null ? '' : isDated ? timeOfDay(last) : day(last),
    summary !== null && <span class="row-words">{visible(cut(withoutMarks(summary), 300))}</span>,
    <>
      <ProjectName project={chat.project} />
      <span>{plural(chat.messageCount, 'message')}</span>
      {added !== null && removed !== null && added + removed > 0 && <PlusMinus added={added} removed={removed} />}
      {chat.running && <span class="tag live">running</span>}
      <MachineTag machine={chat.machine} />
      {chat.deletedInCursor && <span class="tag kept">deleted in Cursor</span>}
    </>,
    openedAddress(url, chat.id, at, null),
  ]
}

function hitRow(hit: SearchHit | RelatedChat, url: string, at: number): RowParts {
  const { chat, message, part, matchCount = 1 } = hit
  const related = 'missing' in hit ? hit : null
  const isCode = part === 'code' || part === 'tool'
  return [
    chat.title,
    day(message.createdAt),
    <span class={`row-words${isCode ? ' is-code' : ''}`}>
      <Snippet html={isCode ? hit.snippet : withoutMarks(hit.snippet)} />
    </span>,
    <>
      <ProjectName project={hit.project} />
      {related === null && <span>{whereOf(hit)}</span>}
      {matchCount > 1 && <span>{atLeast(hit.matchCountIsExact !== false, plural(matchCount, 'hit'))}</span>}
      <MachineTag machine={chat.machine} />
      {message.isOrphan && <span class="tag kept">dropped by Cursor</span>}
      {related !== null && related.missing.length > 0 && (
        <span class="missing">
          without{' '}
          {related.missing.map((word) => (
            <del key={word}>{word}</del>
          ))}
        </span>
      )}
    </>,
    openedAddress(url, chat.id, at, message.id, related?.matched.join(' OR ')),
  ]
}

function whereOf({ part, toolName, message, chat }: SearchHit): string {
  const who = message.role === 'user' ? visible(chat.machine?.user ?? 'You') : 'Agent'
  return part === 'text' ? who : `${who} · ${part === 'tool' ? visible(toolName ?? 'tool call') : part}`
}

/** Prose on one line, without the signs of Markdown. Marks of a snippet stay. */
const withoutMarks = (text: string): string =>
  text
    .replaceAll(/```\w*|(^|\n)\s*(?:#{1,6}|&gt;|[-*+]|\d+\.)\s+/g, ' ')
    .replaceAll(/\*\*|__|`/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()

const ProjectName = ({ project }: { project: { readonly id: string; readonly name: string } | null }) =>
  project === null ? null : (
    <span class="row-project">
      <Dot id={project.id} />
      {visible(project.name)}
    </span>
  )

import { bytesText, countText, numberText } from '../../terminal/formats.ts'
import { printableLine } from '../../../text/printable.ts'
import type { Screen } from '../../terminal/screen.ts'
import { renderTable } from '../../terminal/table.ts'
import type { PurgeReport, PurgeState } from '../../../api/http/schemas/purge.ts'

const CHATS_SHOWN = 20
const columns = [{ title: 'chat' }, { title: 'goes' }, { title: 'messages' }, { title: 'title' }]

export function renderPurge(answer: PurgeReport, screen: Screen): string {
  const lines = [...countLines(answer), ...archiveLines(answer), ...endLines(answer)]
  const text = lines.map((line) => `${printableLine(line)}\n`).join('')
  const shown = answer.dryRun ? answer.chats.slice(0, CHATS_SHOWN) : []
  if (shown.length === 0) return text
  const rows = shown.map(({ id, isWhole, messages, title }) => [
    id,
    isWhole ? 'whole' : 'in part',
    numberText(messages),
    title,
  ])
  const more = answer.chatCount - shown.length
  return `${renderTable(columns, rows, screen)}${more > 0 ? `and ${countText(more, 'more chat')}\n` : ''}${text}`
}

function countLines({
  dryRun,
  chatCount,
  messages,
  inCursor,
  facts,
  unknownChats,
  otherMachines,
  setAside,
}: PurgeReport): string[] {
  const did = dryRun ? 'Would remove' : 'Removed'
  return [
    ...unknownChats.map((id) => `No chat has the id ${id}.`),
    `${did} ${countText(messages, 'message')} of ${countText(chatCount, 'chat')}; Cursor still has ${numberText(inCursor)} of them, and keeps them.`,
    ...(facts === 0 ? [] : [`${did} the text from ${countText(facts, 'name, summary, todo or path')} of chats.`]),
    ...otherMachines.map((name) => `The machine ${name} has such a chat too, and keeps it until it is purged there.`),
    ...setAside.map((file) => `${did} the damaged mirror ${file}, which was set aside.`),
  ]
}

function archiveLines({ dryRun, archives: { objects, messages, runs, damaged } }: PurgeReport): string[] {
  const did = dryRun ? 'Would rewrite' : 'Rewrote'
  const touched = `${countText(objects, 'archived chat')} (${countText(messages, 'message')}) in ${countText(runs.length, 'archive')}`
  return [
    ...(objects === 0 ? [] : [`${did} ${touched}.`]),
    ...damaged.map(
      ({ kind, name, why }) => `Cannot be read: ${kind === 'run' ? 'archive' : 'object'} ${name} (${why}).`,
    ),
  ]
}

function endLines({ dryRun, left, check, archives }: PurgeReport): string[] {
  if (dryRun) return ['Nothing was changed. To do it, add --yes.']
  const lines = left === null ? [] : [left]
  if (check === null) return lines
  const { files, bytes, found, unread } = check
  const none = unread.length + archives.damaged.length === 0 ? '0 found' : '0 found in what could be read'
  return [
    `Searched ${countText(files, 'file')} of ${bytesText(bytes)}, byte by byte: ${found.length === 0 ? none : `found in ${countText(found.length, 'file')}`}.`,
    ...found.map(({ file, times, at }) => `Found ${countText(times, 'time')} in ${file}, first at byte ${at}.`),
    ...unread.map((file) => `Could not be searched: ${file}.`),
    ...lines,
  ]
}

export function renderState({ doing, tombstones, unfinished }: PurgeState): string {
  const { chats, messages, texts } = tombstones
  const isUnfinished = unfinished.rows || unfinished.archives || unfinished.bytes
  const lines = [
    `Kept out: ${countText(chats, 'chat')}, ${countText(messages, 'message')} and ${countText(texts, 'text')}.`,
    ...(doing === null ? [] : [`Running: ${doing}.`]),
    ...(isUnfinished
      ? [
          'A purge was interrupted. A running daemon finishes it within ten minutes; its next start or the next purge does too.',
        ]
      : []),
  ]
  return lines.map((line) => `${line}\n`).join('')
}

import { useLocation, useRoute } from 'preact-iso'
import { useRef, useState } from 'preact/hooks'
import type { FileEditAnswer, FileUse } from '../../api/answers/projects.ts'
import type { FileEdit } from '../../shared/edits.ts'
import { DiffView } from '../chat/diff-view.tsx'
import { chatAddress, fileAddress, plural, projectAddress, titleOf, visible } from '../lib/format.ts'
import { queryOf } from '../lib/api.ts'
import { useData, useList, useTitle } from '../lib/hooks.ts'
import { More, Notice, PlusMinus, Shown, When } from '../lib/parts.tsx'
import { type Column, DataTable, projectColumn, timeColumn } from '../reports/table.tsx'
import { addressWith } from '../search/asked.ts'
import '../styles/chat.css'
import '../styles/report.css'

const FIRST = 50

/** Files that chats edited or read; with `path`, the edits of one file. */
export default function FilesScreen() {
  const { query } = useRoute()
  return query['path'] === undefined ? (
    <FileList q={query['q'] ?? ''} />
  ) : (
    <History path={query['path']} project={query['project']} />
  )
}

const columns: readonly Column<FileUse>[] = [
  { name: 'File', value: ({ path }) => path, link: ({ path, project }) => fileAddress(path, project?.id) },
  projectColumn(),
  { name: 'Edits', value: ({ edits }) => edits },
  { name: 'Reads', value: ({ reads }) => reads },
  { name: 'Chats', value: ({ chats }) => chats },
  timeColumn('Last edit', ({ lastEditAt }) => lastEditAt),
]

function FileList({ q }: { q: string }) {
  useTitle('Files')
  const { url, route } = useLocation()
  const [limit, setLimit] = useState(FIRST)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const files = useList('/api/files', limit, { query: { q } })
  const find = (typed: string): void => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => route(addressWith(url, { q: typed }), true), 120)
  }
  return (
    <main id="main" class="column">
      <div class="head">
        <h1>Files</h1>
        <input
          type="search"
          aria-label="Find a file by a part of its path"
          placeholder="A part of the path"
          defaultValue={q}
          onInput={(event) => find(event.currentTarget.value)}
        />
      </div>
      <p class="lead">What chats edited and read. Each file shows its edits, with the chats that made them.</p>
      <Shown of={files} what="files">
        {({ items, total }) =>
          total === 0 ? (
            <Notice title={q === '' ? 'No chat has used a file yet' : 'No file has this in its path'} />
          ) : (
            <>
              <p class="soft">{plural(total, 'file')}, the last edited first</p>
              <DataTable caption="Files" columns={columns} rows={items} />
              <More shown={items.length} total={total} show={setLimit} />
            </>
          )
        }
      </Shown>
    </main>
  )
}

/** The edits of a file, the newest first: when, by which chat, what, and the commits that may contain it. */
function History({ path, project }: { path: string; project: string | undefined }) {
  useTitle(path)
  const [limit, setLimit] = useState(FIRST)
  const edits = useList('/api/files/history', limit, { query: { path, project } })
  const root = useData(project === undefined ? null : '/api/projects/:id', { id: project ?? '' })
  const isAbsolute = /^(\/|[A-Za-z]:[\\/])/.test(path)
  const place = isAbsolute ? path : root.data === null || root.data.remote !== null ? null : `${root.data.path}/${path}`
  return (
    <main id="main" class="column">
      <p class="inline">
        <a href="/files">Files</a>
        {root.data !== null && <a href={projectAddress(root.data.id)}>{visible(root.data.name)}</a>}
      </p>
      <div class="head">
        <h1>{visible(path)}</h1>
        {place !== null && (
          <a class="button" href={cursorAddress(place)}>
            Open in Cursor
          </a>
        )}
      </div>
      <Shown of={edits} what="the edits">
        {({ items, total }) => (
          <>
            <p class="lead">
              {total === 0
                ? 'Chats read or attached this file, and no recorded call edited it. '
                : `${plural(total, 'edit')}, the newest first. `}
              <a href={`/${queryOf({ path })}`}>All messages with this file</a>
            </p>
            <ol>
              {items.map((edit, index) => (
                <Edit key={`${edit.messageId} ${index}`} edit={edit} isOpen={index < OPEN} />
              ))}
            </ol>
            <More shown={items.length} total={total} show={setLimit} />
          </>
        )}
      </Shown>
    </main>
  )
}

/** How many of the newest edits show their diff at once. */
const OPEN = 3

const cursorAddress = (path: string): string =>
  `cursor://file/${encodeURI(path.replaceAll('\\', '/').replace(/^\//, '')).replaceAll('#', '%23').replaceAll('?', '%3F')}`

function Edit({ edit, isOpen }: { edit: FileEditAnswer; isOpen: boolean }) {
  const { chatId, messageId, title, at, linesAdded, linesRemoved, diff, commits, deletedInCursor } = edit
  return (
    <li class="edit">
      <p class="head">
        <a href={chatAddress(chatId, '', messageId)}>{titleOf(title)}</a>
        <span class="inline">
          {linesAdded === null || linesRemoved === null ? (
            <span>lines not recorded</span>
          ) : (
            <PlusMinus added={linesAdded} removed={linesRemoved} />
          )}
          {commits?.map((sha) => (
            <code key={sha} title="May be in this commit">
              {sha.slice(0, 7)}
            </code>
          ))}
          {deletedInCursor && <span class="tag kept">deleted in Cursor, kept here</span>}
          <When at={at} />
        </span>
      </p>
      {diff !== null && (
        <details class="numbers" open={isOpen}>
          <summary class="soft">What changed</summary>
          <DiffView edit={editOf(diff)} />
        </details>
      )}
    </li>
  )
}

/** Hunks, each with a line of `@@` before it. */
function editOf(diff: string): FileEdit {
  const hunks = diff.split(/^@@/m).slice(1)
  return {
    path: null,
    isSketch: false,
    hunks: hunks.map((hunk) => {
      const [head = '', ...lines] = hunk.replace(/\n$/, '').split('\n')
      const [, oldStart, newStart] = /^ -(\d+) \+(\d+) @@/.exec(head) ?? []
      return {
        oldStart: oldStart === undefined ? null : Number(oldStart),
        newStart: newStart === undefined ? null : Number(newStart),
        lines,
      }
    }),
  }
}

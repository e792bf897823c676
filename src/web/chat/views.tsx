import { useMemo, useState } from 'preact/hooks'
import type { ChatDetail } from '../../api/answers/chats.ts'
import { count, plural } from '../lib/format.ts'
import { Failure, More, Notice, PlusMinus, When } from '../lib/parts.tsx'
import { DiffView } from './diff-view.tsx'
import { FileLink } from './code.tsx'
import { isPrompt } from './rows.ts'
import { Prompt, whyGone } from './thread-view.tsx'
import { linesOf } from './tools.ts'
import { type AllMessages, byFile, type FileFacts, hasEdits, useAllMessages } from './whole.ts'

const SHOWN = 50

interface ViewProps {
  readonly chat: ChatDetail
  readonly show: (messageId: string) => void
}

/** What was asked for, and nothing else. */
export function Prompts({ chat, show }: ViewProps) {
  const all = useAllMessages(chat.id, isPrompt, chat.messageCount)
  const [shown, setShown] = useState(SHOWN)
  const [whole, setWhole] = useState<ReadonlySet<string>>(new Set())
  return (
    <section class="thread" aria-label="Prompts">
      <Reading all={all} none="No prompts" />
      {all.kept.slice(0, shown).map((message) => (
        <div key={message.id} class="row prompt">
          <Prompt
            message={message}
            chat={chat}
            isWhole={whole.has(message.id)}
            showAll={() => setWhole(new Set([...whole, message.id]))}
          />
          <button type="button" class="quiet" onClick={() => show(message.id)}>
            What came of it
          </button>
        </div>
      ))}
      <More shown={shown} total={all.kept.length} show={setShown} />
    </section>
  )
}

/** All edits of the chat, file by file. */
export function Changes({ chat, show, facts }: ViewProps & { facts: FileFacts }) {
  const all = useAllMessages(chat.id, hasEdits, chat.messageCount)
  const [shown, setShown] = useState(SHOWN)
  const files = useMemo(() => [...byFile(all.kept)], [all.kept])
  const total = files.reduce((sum, [, changes]) => sum + changes.length, 0)
  let left = shown
  return (
    <section class="thread" aria-label="Changes">
      <Reading all={all} none="No recorded changes" />
      {files.map(([path, changes]) => {
        const some = changes.slice(0, Math.max(0, left))
        left -= some.length
        const lines = linesOf(changes.map(({ edit }) => edit))
        const more = facts.get(path)?.otherChats ?? 0
        return some.length === 0 ? null : (
          <section key={path} class="file-changes">
            <h2>
              {path === '' ? 'Unknown file' : <FileLink path={path} />} {lines !== null && <PlusMinus {...lines} />}
            </h2>
            {more > 0 && <p class="soft">{plural(more, 'more chat')} edited it</p>}
            {some.map(({ message, edit }, index) => (
              <div key={index} class={`change${whyGone(message, chat) === null ? '' : ' gone'}`}>
                <p class="soft">
                  <button type="button" class="quiet" onClick={() => show(message.id)}>
                    Show in chat
                  </button>
                  <When at={message.createdAt} />
                </p>
                {whyGone(message, chat) !== null && <p class="explain">{whyGone(message, chat)}</p>}
                <DiffView edit={edit} />
              </div>
            ))}
          </section>
        )
      })}
      <More shown={shown} total={total} show={setShown} />
    </section>
  )
}

function Reading({ all: { read, total, error, kept }, none }: { all: AllMessages; none: string }) {
  if (error !== null) return <Failure error={error} />
  if (read < total || total === 0) {
    return (
      <p class="loading" role="status">
        Reading the chat: {count(read)} of {total === 0 ? 'its' : count(total)} messages…
      </p>
    )
  }
  return kept.length === 0 ? <Notice title={none} /> : null
}

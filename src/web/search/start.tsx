import { useEffect, useState } from 'preact/hooks'
import type { Chat } from '../../api/answers/chats.ts'
import { chatAddress, plural, projectAddress, titleOf } from '../lib/format.ts'
import { useData, useLive } from '../lib/hooks.ts'
import { status } from '../lib/live.ts'
import { Failure, Loading, MachineTag, Notice, When } from '../lib/parts.tsx'

const SEEN = 'cursordex-seen'

/** When this page was last looked at; a visit on the same hour is the same visit. */
function lastVisit(): string | null {
  const stored = localStorage.getItem(SEEN)
  return stored !== null && !Number.isNaN(Date.parse(stored)) ? stored : null
}

/** Without a query: the newest chats, and what happened since the last visit. */
export function Start() {
  const chats = useData('/api/chats', { query: { limit: 20 } })
  useLive(['chat'], chats.reload, 1500)
  if (chats.data === null) {
    return chats.error === null ? <Loading what="chats" /> : <Failure error={chats.error} retry={chats.reload} />
  }
  return (
    <div class="start">
      <Away />
      <h1 class="section-title">Newest chats</h1>
      {chats.data.items.length === 0 && <NoChats />}
      <ol class="chat-list">
        {chats.data.items.map((chat) => (
          <ChatRow key={chat.id} chat={chat} />
        ))}
      </ol>
    </div>
  )
}

const ChatRow = ({ chat }: { chat: Chat }) => (
  <li>
    <h2>
      <a data-hit href={chatAddress(chat.id)}>
        {titleOf(chat.title)}
      </a>
      <MachineTag machine={chat.machine} />
      {chat.deletedInCursor && <span class="tag">deleted in Cursor</span>}
    </h2>
    <p class="hit-facts">
      {chat.project !== null && <a href={projectAddress(chat.project.id)}>{chat.project.name}</a>}
      <When at={chat.lastActivityAt} />
      <span>{plural(chat.messageCount, 'message')}</span>
      {chat.model !== null && <span class="fact-wide">{chat.model}</span>}
    </p>
  </li>
)

function NoChats() {
  const state = status.value?.state
  if (state === 'indexing' || state === 'starting') {
    return (
      <Notice title="Your chats are being read">
        <p>The newest come first. They appear here by themselves.</p>
      </Notice>
    )
  }
  return (
    <Notice title="No chats yet">
      <p>
        No chat was found in Cursor's storage on this machine. The <a href="/status">status</a> lists where it looked.
        To see a sample, run <code>cursordex demo</code>.
      </p>
    </Notice>
  )
}

function Away() {
  const [since] = useState(lastVisit)
  const losses = useData('/api/losses', { query: { from: since, limit: 1 } })
  const failed = status.value?.archives.failed ?? []
  useEffect(() => {
    const save = (): void => localStorage.setItem(SEEN, new Date().toISOString())
    addEventListener('pagehide', save)
    return () => removeEventListener('pagehide', save)
  }, [])
  const lost = losses.data?.total ?? 0
  if (lost === 0 && failed.length === 0) return null
  return (
    <section class="away" aria-label="While you were away">
      {lost > 0 && (
        <p>
          Cursor deleted <a href="/losses">{plural(lost, 'message or chat', 'messages and chats')}</a>
          {since === null ? '.' : ' since your last visit.'} They are still here.
        </p>
      )}
      {failed.map(({ job, error }) => (
        <p key={job} class="warn">
          The archive <b>{job}</b> failed: {error} <a href="/archives">Archives</a>
        </p>
      ))}
    </section>
  )
}

import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso'
import { useRef, useState } from 'preact/hooks'
import { needsToken, saveToken, token } from '../lib/api.ts'
import { count, duration, plural } from '../lib/format.ts'
import { typesText, useKeyDown, useKeys } from '../lib/hooks.ts'
import { connection, said, status } from '../lib/live.ts'
import { Bar } from '../lib/parts.tsx'
import { ChatList } from '../search/list.tsx'
import { Help } from './help.tsx'
import { Rail } from './rail.tsx'

/** What all screens share: the places, the state of the daemon, and beside a chat the list from which it was opened. */
export function Frame({ children }: { children: ComponentChildren }) {
  const { path } = useLocation()
  const [isHelpOpen, setHelpOpen] = useState(false)
  useKeys((key) => {
    if (key === '?') setHelpOpen(true)
    return key === '?'
  })
  useSearchKey()
  const place = path === '/' ? 'list' : path.startsWith('/chats/') ? 'reader' : 'other'
  return (
    <div class="app" data-place={place}>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <StateLine />
      {needsToken.value ? (
        <TokenForm />
      ) : (
        <>
          {place !== 'other' && <ChatList />}
          {children}
        </>
      )}
      <Rail openHelp={() => setHelpOpen(true)} />
      {said.value !== null && (
        <button type="button" class="newest" onClick={() => (said.value = null)}>
          <span role="status">{said.value}</span> <span aria-hidden="true">×</span>
        </button>
      )}
      {isHelpOpen && <Help close={() => setHelpOpen(false)} />}
    </div>
  )
}

const field = (): HTMLInputElement | null => document.querySelector('.search-field input')

/** `/` and Ctrl K go to the search field, from every place. */
function useSearchKey(): void {
  const { route } = useLocation()
  useKeyDown((event) => {
    const { key, target, ctrlKey, metaKey, altKey } = event
    const isSlash = key === '/' && !ctrlKey && !metaKey && !altKey && !typesText(target)
    if (!isSlash && !(key.toLowerCase() === 'k' && (ctrlKey || metaKey))) return false
    const isShown = field()?.checkVisibility() === true
    if (!isShown) route('/')
    // The list is drawn in the next frame.
    if (isShown) field()?.select()
    else setTimeout(() => field()?.select(), 50)
    return true
  })
}

/** One line, only when there is something to say: indexing, degraded, or no daemon. */
function StateLine() {
  const text = stateOf(useRef({ stage: '', leftMs: Infinity }).current)
  return (
    <div class="state" role="status">
      {text}
    </div>
  )
}

/** @param least the shortest time that was said to be left: it does not climb */
function stateOf(least: { stage: string; leftMs: number }) {
  const now = status.value
  if (connection.value === 'gone') {
    return (
      <p class="state-line warn">
        <strong>The daemon does not answer.</strong> This page reconnects by itself.
      </p>
    )
  }
  if (now === null || now.state === 'ready') return null
  if (now.state === 'degraded') {
    return (
      <p class="state-line warn">
        <strong>Degraded.</strong> {now.reasons.join(' ')} <a href="/settings">Settings</a>
      </p>
    )
  }
  const { progress } = now
  if (progress === null) {
    // A pass over a few new messages needs no line, which would move the page.
    return now.counts.messages > 0 ? null : <p class="state-line">Starting: Cursor's chats are about to be read.</p>
  }
  const what = progress.stage === 'reading' ? 'Reading Cursor' : 'Indexing'
  if (least.stage !== progress.stage) Object.assign(least, { stage: progress.stage, leftMs: Infinity })
  least.leftMs = Math.min(least.leftMs, progress.etaMs ?? Infinity)
  const left = least.leftMs === Infinity ? '' : `, about ${duration(least.leftMs)} left`
  return (
    <p class="state-line">
      <span>
        <strong>{what}:</strong> {count(progress.done)} of {plural(progress.total, 'row')}
        {left}. Chats that are not read yet are missing here.
      </span>
      <Bar done={progress.done} total={progress.total} label={what} />
    </p>
  )
}

/** Shown without a token, and after a refused one. */
function TokenForm() {
  const [given, setGiven] = useState('')
  const submit = (event: Event): void => {
    event.preventDefault()
    if (given.trim() !== '') saveToken(given.trim())
  }
  return (
    <main id="main" class="column narrow">
      <h1>Enter the token</h1>
      <p>
        This server shows chats only with the token of its data folder.{' '}
        {token.value !== null && 'The token of this tab was refused. '}
        It is in the file <code>token</code> there.
      </p>
      <form class="token-form" onSubmit={submit}>
        <label for="token">Token</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          value={given}
          onInput={(event) => setGiven(event.currentTarget.value)}
        />
        <button type="submit" class="primary">
          Show my chats
        </button>
      </form>
    </main>
  )
}

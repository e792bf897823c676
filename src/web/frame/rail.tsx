import { useLocation } from 'preact-iso'
import { useEffect } from 'preact/hooks'
import type { Status } from '../../api/answers/status.ts'
import { count, duration, visible } from '../lib/format.ts'
import { useData } from '../lib/hooks.ts'
import type { IconName } from '../lib/icons.ts'
import { connection, projects, status } from '../lib/live.ts'
import { Dot, Icon } from '../lib/parts.tsx'
import { listAddress } from '../search/asked.ts'

const PLACES: readonly (readonly [address: string, name: string, icon: IconName, also: RegExp])[] = [
  ['/', 'Chats', 'chats', /^\/(chats\/.*)?$/],
  ['/files', 'Files', 'file', /^\/files/],
  ['/stats', 'Activity', 'bars', /^\/stats/],
  ['/tokens', 'Usage', 'coins', /^\/tokens/],
  ['/losses', 'Safety', 'shield', /^\/(losses|archives)/],
]

/** How many projects the rail shows. */
const SHOWN = 7
const PROJECTS_MAX = 200

/** The places, and the projects. It stands last in the document, so that Tab reaches the list first. */
export function Rail({ openHelp }: { openHelp: () => void }) {
  const { path, url } = useLocation()
  const list = useData('/api/projects', { query: { limit: PROJECTS_MAX } })
  useEffect(() => {
    if (list.data !== null) projects.value = list.data.items.filter(({ chatCount }) => chatCount > 0)
  }, [list.data])
  const chosen = new URL(url, location.origin).searchParams.getAll('project')
  const counted: Readonly<Record<string, string>> =
    status.value === null
      ? {}
      : {
          Chats: count(status.value.counts.chats),
          Safety: safetyOf(status.value),
        }
  return (
    <nav class="rail" aria-label="Main">
      <a class="brand" href="/" aria-label="cursordex, all chats">
        <span class="brand-mark" aria-hidden="true" />
        <span class="brand-name">cursordex</span>
      </a>
      {PLACES.map(([address, name, icon, also]) => (
        <a key={address} href={address} aria-current={also.test(path) ? 'page' : undefined}>
          <Icon name={icon} />
          <span>{name}</span>
          <span class="rail-count">{counted[name]}</span>
        </a>
      ))}
      {projects.value.length > 0 && (
        <section class="rail-projects" aria-label="Projects">
          <h2>Projects</h2>
          {projects.value.slice(0, SHOWN).map(({ id, name, chatCount }) => (
            <a
              key={id}
              href={listAddress(url, { project: id })}
              aria-current={chosen.includes(id) ? 'true' : undefined}
            >
              <Dot id={id} />
              <span class="rail-name">{visible(name)}</span>
              <span class="rail-count">{count(chatCount)}</span>
            </a>
          ))}
          <a href="/projects" aria-current={path === '/projects' ? 'page' : undefined}>
            All {count(list.data?.total)}…
          </a>
        </section>
      )}
      <span class="rail-space" />
      <StatusDot />
      <a href="/settings" aria-current={/^\/(settings|status)/.test(path) ? 'page' : undefined}>
        <Icon name="dials" />
        <span>Settings</span>
      </a>
      <button type="button" class="help-key" onClick={openHelp}>
        <kbd aria-hidden="true">?</kbd>
        <span>Keys</span>
      </button>
    </nav>
  )
}

function safetyOf({ losses, archives }: Status): string {
  const lost = losses.chats + losses.messages
  return archives.failed.length > 0 ? 'failed' : lost === 0 ? '' : `${count(lost)} lost`
}

const STATES = {
  ready: 'Up to date',
  starting: 'Starting',
  indexing: 'Reading chats',
  degraded: 'Needs attention',
} as const

function StatusDot() {
  const now = status.value
  const isGone = connection.value === 'gone'
  // A pass over a few new messages is no news.
  const isRead = now !== null && now.progress === null && now.counts.messages > 0 && now.state !== 'degraded'
  const state = isGone ? 'gone' : isRead ? 'ready' : (now?.state ?? 'starting')
  return (
    <a class="status-dot" href="/settings" data-state={state}>
      <span class="dot" aria-hidden="true" />
      <span class="rail-name">{state === 'gone' ? 'No answer' : STATES[state]}</span>
      {state === 'ready' && typeof now?.lagMs === 'number' && (
        <span class="rail-count" title="Time until a new message can be found">
          {now.lagMs < 100 ? '< 0.1 s' : now.lagMs < 1000 ? `${(now.lagMs / 1000).toFixed(1)} s` : duration(now.lagMs)}
        </span>
      )}
    </a>
  )
}

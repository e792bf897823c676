import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso'
import { useEffect, useState } from 'preact/hooks'
import { needsToken } from '../lib/api.ts'
import { useKeys } from '../lib/hooks.ts'
import { ChatList } from '../search/list.tsx'
import { Help } from './help.tsx'
import { Rail } from './rail.tsx'
import { StateLine } from './state-line.tsx'
import { TokenForm } from './token-form.tsx'

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
      {isHelpOpen && <Help close={() => setHelpOpen(false)} />}
    </div>
  )
}

const field = (): HTMLInputElement | null => document.querySelector('.search-field input')

/** `/` and Ctrl K go to the search field, from every place. */
function useSearchKey(): void {
  const { route } = useLocation()
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isSlash = event.key === '/' && !event.ctrlKey && !event.metaKey && !event.altKey
      const isCtrlK = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)
      const isInField = event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)
      if (!isCtrlK && (!isSlash || isInField)) return
      event.preventDefault()
      const isShown = field()?.checkVisibility() === true
      if (!isShown) route('/')
      // The list is drawn in the next frame.
      const focus = (): void => field()?.select()
      if (isShown) focus()
      else setTimeout(focus, 50)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
}

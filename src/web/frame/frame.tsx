import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso'
import { useState } from 'preact/hooks'
import { needsToken } from '../lib/api.ts'
import { useKeys } from '../lib/hooks.ts'
import { Help } from './help.tsx'
import { SearchField } from './search-field.tsx'
import { StateLine } from './state-line.tsx'
import { TokenForm } from './token-form.tsx'

const PLACES = [
  ['/', 'Search'],
  ['/stats', 'Statistics'],
  ['/tokens', 'Tokens'],
  ['/losses', 'Losses'],
  ['/archives', 'Archives'],
  ['/status', 'Status'],
] as const

/** What all screens share: the search field, the navigation, the state of the daemon. */
export function Frame({ children }: { children: ComponentChildren }) {
  const { path } = useLocation()
  const [isHelpOpen, setHelpOpen] = useState(false)
  useKeys((key) => {
    if (key !== '?') return false
    setHelpOpen(true)
    return true
  })
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="top">
        <div class="top-row">
          <a class="brand" href="/" aria-label="cursordex, start page">
            <span class="brand-mark" aria-hidden="true" />
            <span class="brand-name">cursordex</span>
          </a>
          <SearchField />
          <nav aria-label="Main">
            {PLACES.map(([address, name]) => (
              <a key={address} href={address} aria-current={path === address ? 'page' : undefined}>
                {name}
              </a>
            ))}
          </nav>
          <button type="button" class="quiet help-key" onClick={() => setHelpOpen(true)} aria-label="Keyboard help">
            ?
          </button>
        </div>
        <StateLine />
      </header>
      {needsToken.value ? <TokenForm /> : children}
      {isHelpOpen && <Help close={() => setHelpOpen(false)} />}
    </>
  )
}

import { signal } from '@preact/signals'

export const THEMES = ['System', 'Light', 'Dark'] as const
export const DENSITIES = ['Roomy', 'Dense'] as const

const STORED = 'cursordex-looks'

interface Looks {
  readonly theme: (typeof THEMES)[number]
  readonly density: (typeof DENSITIES)[number]
}

export const theme = signal<Looks['theme']>('System')
export const density = signal<Looks['density']>('Roomy')

/** Changes how the page looks, in all tabs that are opened later too. */
export function choose(changed: Partial<Looks>): void {
  theme.value = changed.theme ?? theme.value
  density.value = changed.density ?? density.value
  const { style } = document.documentElement
  style.colorScheme = theme.value === 'System' ? '' : theme.value.toLowerCase()
  // All sizes follow that of the letters.
  style.fontSize = density.value === 'Dense' ? '87.5%' : ''
  localStorage.setItem(STORED, JSON.stringify({ theme: theme.value, density: density.value }))
}

/** What was chosen before. */
export function restoreLooks(): void {
  try {
    const stored = JSON.parse(localStorage.getItem(STORED) ?? '{}') as Partial<Looks>
    const isKnown = THEMES.some((each) => each === stored.theme) && DENSITIES.some((each) => each === stored.density)
    if (isKnown) choose(stored)
  } catch {
    // What is not readable was not chosen here.
  }
}

import { effect, signal } from '@preact/signals'

// How the page looks. What is chosen is kept for all tabs that are opened later.

export const THEMES = ['System', 'Light', 'Dark'] as const
export const DENSITIES = ['Roomy', 'Dense'] as const

const chosen = <Value extends string>(name: string, values: readonly [Value, ...Value[]]): Value =>
  values.find((each) => each === localStorage.getItem(`cursordex-${name}`)) ?? values[0]

export const theme = signal(chosen('theme', THEMES))
export const density = signal(chosen('density', DENSITIES))

/** The page looks as it is chosen, now and whenever that changes. */
export const followLooks = (): (() => void) =>
  effect(() => {
    const { style } = document.documentElement
    style.colorScheme = theme.value === 'System' ? '' : theme.value.toLowerCase()
    // All sizes follow that of the letters.
    style.fontSize = density.value === 'Dense' ? '87.5%' : ''
    localStorage.setItem('cursordex-theme', theme.value)
    localStorage.setItem('cursordex-density', density.value)
  })

import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'

interface MenuProps {
  readonly name: string
  /** Marks a menu in which something is chosen. */
  readonly isChosen?: boolean
  readonly tabIndex?: number
  /** Made when the menu is open. */
  readonly children: () => ComponentChildren
}

/** A button and what it opens. A popover closes by itself when one presses elsewhere. */
export function Menu({ name, isChosen = false, tabIndex = 0, children }: MenuProps) {
  const id = `menu${useId()}`
  const [isOpen, setOpen] = useState(false)
  const anchor = `--${id}`
  return (
    <span class="menu">
      <button
        type="button"
        popovertarget={id}
        class={isChosen ? 'chosen' : undefined}
        tabIndex={tabIndex}
        ref={(button) => button?.style.setProperty('anchor-name', anchor)}
      >
        {name} <span aria-hidden="true">▾</span>
      </button>
      <div
        id={id}
        popover="auto"
        class="menu-body"
        ref={(body) => body?.style.setProperty('position-anchor', anchor)}
        onToggle={(event) => setOpen(event.newState === 'open')}
      >
        {isOpen && children()}
      </div>
    </span>
  )
}

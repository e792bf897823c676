import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import type { Machine } from '../../api/answers/projects.ts'
import { messageOf } from './api.ts'
import { ago, count, cut, moment, visible } from './format.ts'
import type { Loaded } from './hooks.ts'
import { type IconName, SHAPES } from './icons.ts'

/** A time in words; the exact one is in its tooltip. */
export const When = ({ at }: { at: string | null }) =>
  at === null ? (
    <span class="soft">time unknown</span>
  ) : (
    <time dateTime={at} title={moment(at)}>
      {ago(at)}
    </time>
  )

/** Whose chat it is; nothing for a chat of this machine. */
export const MachineTag = ({ machine }: { machine: Machine | null }) =>
  machine === null ? null : (
    <span class="tag" title={`Pulled from ${machine.name} of ${machine.user}`}>
      {visible(cut(machine.name, 40))}
    </span>
  )

/** A state of a screen that is not data: nothing found, an error, loading. */
export const Notice = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="notice">
    <h2>{title}</h2>
    {children}
  </div>
)

export const Failure = ({ error, retry }: { error: unknown; retry?: () => void }) => (
  <div class="notice" role="alert">
    <h2>This could not be loaded</h2>
    <p>{messageOf(error)}</p>
    {retry !== undefined && (
      <button type="button" onClick={retry}>
        Try again
      </button>
    )}
  </div>
)

export const Loading = ({ what }: { what: string }) => (
  <p class="loading" role="status">
    Loading {what}…
  </p>
)

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#x27': "'" }
/** A snippet's text: its signs are escaped. */
export const decoded = (text: string): string =>
  text.replace(/&(#?\w+);/g, (whole, name: string) => ENTITIES[name] ?? whole)

/** A snippet is escaped HTML with `<mark>`. It is split into text and marks, never parsed as HTML. */
export const Snippet = ({ html }: { html: string }) => (
  <>
    {html
      .split(/(<mark>[^]*?<\/mark>)/)
      .map((piece, index) =>
        index % 2 === 1 ? <mark key={index}>{decoded(piece.slice(6, -7))}</mark> : decoded(piece),
      )}
  </>
)

interface ShownProps<T> {
  readonly of: Loaded<T>
  readonly what: string
  readonly children: (data: T) => ComponentChildren
}

/** What was loaded, or that it is loading, or why it could not be. */
export const Shown = <T,>({ of: { data, error, reload }, what, children }: ShownProps<T>) => (
  <>
    {error !== null && <Failure error={error} retry={reload} />}
    {data === null ? error === null && <Loading what={what} /> : children(data)}
  </>
)

export const Bar = ({ done, total, label }: { done: number; total: number; label: string }) => (
  <progress class="bar" max={Math.max(1, total)} value={done} aria-label={label} />
)

/** Lines that were added and removed. */
export const PlusMinus = ({ added, removed }: { added: number; removed: number }) => (
  <span class="plus-minus">
    {(added > 0 || removed === 0) && <span class="plus">+{count(added)}</span>}{' '}
    {removed > 0 && <span class="minus">−{count(removed)}</span>}
  </span>
)

export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={SHAPES[name]} />
  </svg>
)

/** A project's dot. Its colour follows from the id, so that it stays. */
export const Dot = ({ id }: { id: string }) => {
  const hue = Array.from(id).reduce((sum, sign) => (sum * 31 + sign.charCodeAt(0)) % 360, 0)
  return <span class="dot" style={{ '--hue': hue }} aria-hidden="true" />
}

interface MoreProps {
  readonly shown: number
  readonly total: number
  readonly show: (limit: number) => void
}

const MORE = 200

/** Shows further items of a list, until all are shown. */
export const More = ({ shown: done, total, show }: MoreProps) =>
  done >= total ? null : (
    <button type="button" class="more" onClick={() => show(done + MORE)}>
      Show more, {count(done)} of {count(total)} shown
    </button>
  )

/** A number with its name, within a list of them. */
export const Figure = ({ name, value }: { name: string; value: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
)

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

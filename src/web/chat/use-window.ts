import { observeWindowOffset, observeWindowRect, Virtualizer, windowScroll } from '@tanstack/virtual-core'
import type { RefObject } from 'preact'
import { useLayoutEffect, useMemo, useReducer, useState } from 'preact/hooks'
import { guessedHeight, type Row } from './rows.ts'

/** Browsers that keep in place what is read when something above it changes its height. Safari does not. */
const holdsByItself = CSS.supports('overflow-anchor', 'auto')

/** Part of a long list: these rows are in the document, and the space of all others is kept. */
export interface RowWindow {
  readonly shown: readonly { readonly row: Row; readonly index: number }[]
  /** Heights of what is left out, in pixels. */
  readonly above: number
  readonly below: number
  /** To be called with the element of each row: it is measured. */
  readonly measure: (element: HTMLElement | null) => void
  /** Where a row begins in the page, in pixels, as far as it is known. */
  readonly startOf: (index: number) => number
}

/** The rows in sight and some around them. When rows are added above, the first row in sight stays where it is. */
export function useWindow(rows: readonly Row[], list: RefObject<HTMLElement | null>): RowWindow {
  const [, draw] = useReducer<number, void>((old) => old + 1, 0)
  const [margin, setMargin] = useState(0)
  const options = useMemo(
    () => ({
      count: rows.length,
      overscan: 10,
      getScrollElement: () => window,
      observeElementRect: observeWindowRect,
      observeElementOffset: observeWindowOffset,
      scrollToFn: windowScroll,
      estimateSize: (index: number) => (rows[index] === undefined ? 0 : guessedHeight(rows[index])),
      getItemKey: (index: number) => rows[index]?.key ?? index,
      scrollMargin: margin,
      onChange: () => draw(),
    }),
    [rows, margin],
  )
  const [virtualizer] = useState(() => {
    const made = new Virtualizer<Window, HTMLElement>({ ...options, initialOffset: () => scrollY })
    if (holdsByItself) made.shouldAdjustScrollPositionOnItemSizeChange = () => false
    return made
  })
  // While the document still has the old rows.
  const held = useMemo(() => rowInSight(list.current), [rows[0]?.key])
  const isNew = virtualizer.options.getItemKey !== options.getItemKey
  virtualizer.setOptions(options)
  const total = virtualizer.getTotalSize()
  const startOf = (index: number): number => virtualizer.measurementsCache[index]?.start ?? 0
  if (isNew && held !== null) {
    const index = rows.findIndex(({ key }) => key === held.key)
    // The rows around it are drawn at once, before the window is scrolled there.
    if (index > 0) virtualizer.scrollOffset = startOf(index) - held.top
  }
  useLayoutEffect(() => virtualizer._didMount(), [])
  useLayoutEffect(() => {
    virtualizer._willUpdate()
    const top = Math.round((list.current?.getBoundingClientRect().top ?? 0) + scrollY)
    if (top !== margin) setMargin(top)
  })
  useLayoutEffect(() => {
    const row = held === null ? null : elementOfRow(list.current, held.key)
    if (row === null || held === null) return
    const moved = row.getBoundingClientRect().top - held.top
    if (moved !== 0) scrollBy({ top: moved, behavior: 'instant' })
  }, [held])
  const items = virtualizer.getVirtualItems()
  return {
    shown: items.flatMap(({ index }) => (rows[index] === undefined ? [] : [{ row: rows[index], index }])),
    above: Math.max(0, (items[0]?.start ?? margin) - margin),
    below: Math.max(0, total + margin - (items.at(-1)?.end ?? margin)),
    measure: virtualizer.measureElement,
    startOf,
  }
}

const elementOfRow = (list: HTMLElement | null, key: string): Element | null =>
  list?.querySelector(`:scope > [data-row="${CSS.escape(key)}"]`) ?? null

/** The first row in sight, and where it stands. */
function rowInSight(list: HTMLElement | null): { readonly key: string; readonly top: number } | null {
  for (const row of list?.querySelectorAll<HTMLElement>(':scope > [data-row]') ?? []) {
    const { top, bottom } = row.getBoundingClientRect()
    if (bottom > 0) return { key: row.dataset['row'] ?? '', top }
  }
  return null
}

import { useLocation } from 'preact-iso'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { atLeast, count, plural } from '../lib/format.ts'
import { useKeys, useLive, useTitle } from '../lib/hooks.ts'
import { Failure, Loading } from '../lib/parts.tsx'
import { type Asked, chatOpenAt, readAsked } from './asked.ts'
import { SearchField } from './field.tsx'
import { Menus } from './menus.tsx'
import { Nothing, Suggestions } from './notes.tsx'
import { heightOf, Row, type RowItem, rowsOf } from './rows.tsx'
import { type Found, isHit, isListing, OFFSET_MAX, useFound } from './use-found.ts'

/** Rows around those in sight that are in the document too. */
const OVERSCAN = 8
/** How near its end a list is continued, in pixels. */
const NEAR = 1200

/** All chats, or those that a search finds. It stays while chats are opened from it. */
export function ChatList() {
  const { url, path } = useLocation()
  const asked = readAsked(url)
  const isHome = path === '/'
  const place = Number(new URL(url, location.origin).searchParams.get('at') ?? 0)
  const list = useFound(asked, place)
  const { found, isCurrent, isLoading, error } = list
  useTitle(isHome ? asked.q : null)
  useLive('chat', () => isListing(asked) && list.reload(), 1500)
  const scroller = useRef<HTMLDivElement>(null)
  const openId = chatOpenAt(path)
  const machines = found?.items.some((item) => (isHit(item) ? item.chat : item).machine !== null) === true
  return (
    <div
      class="list-pane"
      id={isHome ? 'main' : undefined}
      role={isHome ? 'main' : 'region'}
      aria-label="Chats"
      aria-busy={isLoading}
    >
      {isHome && <h1 class="hidden">{asked.q === '' ? 'Chats' : `Search: ${asked.q}`}</h1>}
      <div class="list-head">
        <SearchField />
        <div class={`under-way${isCurrent || error !== null ? '' : ' is-old'}`} />
        <Menus asked={asked} hasMachines={machines} />
        <Summary found={found} asked={asked} isCurrent={isCurrent} />
      </div>
      <div ref={scroller} class="list-body">
        {error !== null && <Failure error={error} retry={list.reload} />}
        {found === null && error === null && <Loading what="chats" />}
        {found !== null && (error === null || isCurrent) && (
          <>
            {found.answer !== null && <Suggestions answer={found.answer} url={url} />}
            {found.items.length === 0 && <Nothing answer={found.answer} asked={asked} url={url} />}
            <Rows
              found={found}
              asked={asked}
              scroller={scroller}
              openId={openId}
              place={place}
              loadMore={isLoading ? null : list.loadMore}
            />
          </>
        )}
      </div>
    </div>
  )
}

function Summary({ found, asked, isCurrent }: { found: Found | null; asked: Asked; isCurrent: boolean }) {
  const { total = 0, isExact = true, items = [], answer } = found ?? {}
  const words = items.length === 0 && asked.q !== '' ? 'No exact match' : atLeast(isExact, plural(total, 'chat'))
  return (
    <p class="summary" aria-live="polite">
      {found !== null && words}
      {found !== null && !isCurrent && <span class="soft late"> · of the search before</span>}
      {isCurrent && answer !== null && answer !== undefined && (
        <span class="soft"> · {count(Math.round(answer.tookMs))} ms</span>
      )}
    </p>
  )
}

interface RowsProps {
  readonly found: Found
  readonly asked: Asked
  readonly scroller: { readonly current: HTMLElement | null }
  readonly openId: string | null
  readonly place: number
  /** Null while something is loading. */
  readonly loadMore: (() => void) | null
}

/** Only the rows in sight are in the document; each kind of row has its height. */
function Rows({ found, asked, scroller, openId, place, loadMore }: RowsProps) {
  const { url } = useLocation()
  const box = useRef<HTMLOListElement>(null)
  const rows = useMemo(() => rowsOf(found, asked), [found, asked.sort])
  const rem = useMemo(() => parseFloat(getComputedStyle(document.documentElement).fontSize), [])
  const starts = useMemo(() => {
    let sum = 0
    return rows.map((row) => (sum += heightOf(row)) - heightOf(row))
  }, [rows])
  const end = rows.length === 0 ? 0 : (starts.at(-1) ?? 0) + heightOf(rows[rows.length - 1] as RowItem)
  const [seen, setSeen] = useState({ top: 0, bottom: 1200 })
  const [focused, setFocused] = useState(-1)
  const look = (): void => {
    const element = scroller.current
    if (element === null) return
    const top = element.scrollTop - (box.current?.offsetTop ?? 0)
    // A pane that is not shown has no height: it keeps its place.
    if (element.clientHeight > 0) found.scrollTop = element.scrollTop
    setSeen({ top, bottom: top + Math.max(element.clientHeight, 600) })
  }
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return undefined
    element.addEventListener('scroll', look, { passive: true })
    const resized = new ResizeObserver(look)
    resized.observe(element)
    return () => {
      element.removeEventListener('scroll', look)
      resized.disconnect()
    }
  }, [found])
  // Another list begins at its top, and one that was seen where it was.
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return
    const index = rows.findIndex((row) => row.at === place && row.id === openId)
    const middle = index < 0 ? 0 : (starts[index] ?? 0) * rem - element.clientHeight / 3
    element.scrollTop = found.scrollTop ?? Math.max(0, middle)
    look()
  }, [found.key])
  useLayoutEffect(() => {
    const element = scroller.current
    if (openId === null && element !== null && found.scrollTop !== null) element.scrollTop = found.scrollTop
  }, [openId])
  // Who comes back from a chat is at its row again.
  const lastOpen = useRef(openId)
  useEffect(() => {
    const was = lastOpen.current
    lastOpen.current = openId
    if (openId !== null || was === null || document.activeElement !== document.body) return
    const row = rows.find(({ id }) => id === was)
    if (row !== undefined) focusRow(row.at)
  }, [openId])
  const first = Math.max(0, starts.findLastIndex((start) => start * rem <= seen.top) - OVERSCAN)
  const after = starts.findIndex((start) => start * rem > seen.bottom)
  const last = after < 0 ? rows.length : Math.min(rows.length, after + OVERSCAN)
  useEffect(() => {
    if (!found.isEnd && end * rem - seen.bottom < NEAR) loadMore?.()
  }, [seen.bottom, loadMore !== null, found])
  useRowKeys()
  const shown = rows
    .map((_, index) => index)
    .filter((index) => (index >= first && index < last) || rows[index]?.at === focused)
  return (
    <>
      <ol
        ref={box}
        class="rows"
        style={{ height: `${end}rem` }}
        onFocusIn={(event) => setFocused(Number((event.target as HTMLElement).dataset['at'] ?? -1))}
      >
        {shown.map((index) => {
          const row = rows[index] as RowItem
          return (
            <li
              key={row.key}
              style={{ top: `${starts[index]}rem`, height: `${heightOf(row)}rem` }}
              aria-setsize={row.id === null ? undefined : found.total}
              aria-posinset={row.id === null ? undefined : row.at + 1}
            >
              <Row row={row} url={url} isOpen={row.id !== null && row.id === openId} />
            </li>
          )
        })}
      </ol>
      {!found.isEnd && found.answer !== null && found.items.length > OFFSET_MAX && (
        <p class="soft">
          These are the first {count(found.items.length)} chats. More words or a filter show the others.
        </p>
      )}
    </>
  )
}

const focusRow = (at: number): void => document.querySelector<HTMLElement>(`[data-at="${at}"]`)?.focus()

/** `j`, `k` and, in the list, arrows move the focus, so that Enter opens what is focused and screen readers follow. */
function useRowKeys(): void {
  useKeys((key) => {
    const current = document.activeElement
    const isInList = current?.closest('.list-pane') !== null || location.pathname === '/'
    const step =
      key === 'j' || (isInList && key === 'ArrowDown') ? 1 : key === 'k' || (isInList && key === 'ArrowUp') ? -1 : 0
    if (step === 0) return false
    const at = Number((current instanceof HTMLElement ? current.dataset['at'] : undefined) ?? -1)
    if (at >= 0) {
      if (at === 0 && step < 0) document.querySelector<HTMLElement>('.search-field input')?.focus()
      else focusRow(at + step)
      return true
    }
    const open =
      document.querySelector<HTMLElement>('[data-at][aria-current]') ?? document.querySelector<HTMLElement>('[data-at]')
    if (step > 0) open?.focus()
    return step > 0
  })
}

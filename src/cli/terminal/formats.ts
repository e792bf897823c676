import type { Machine } from '../../api/http/schemas/machines.ts'
import type { Screen } from './screen.ts'

/** A machine as the filter takes it. @param machine null: this machine */
export const machineText = (machine: Machine | null): string =>
  machine === null ? 'local' : `${machine.user}/${machine.name}`

/** A time as `2026-02-19 14:03` in a zone, or `-` if it is unknown. */
export function localTime(iso: string | null, timeZone: string): string {
  const time = iso === null ? Number.NaN : Date.parse(iso)
  if (Number.isNaN(time)) return '-'
  let format = formats.get(timeZone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' })
    formats.set(timeZone, format)
  }
  return format.format(time)
}

/** Creating a format takes longer than using it a thousand times. */
const formats = new Map<string, Intl.DateTimeFormat>()

const ageUnits = [
  ['year', 365.25 * 86_400_000],
  ['month', 30.4375 * 86_400_000],
  ['week', 7 * 86_400_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** `just now`, `5 minutes ago`, `3 days ago`, or `-` if the time is unknown. Times in the future are shown in full. */
export function ageText(iso: string | null, { nowMs, timeZone }: Pick<Screen, 'nowMs' | 'timeZone'>): string {
  const ageMs = iso === null ? Number.NaN : nowMs - Date.parse(iso)
  if (Number.isNaN(ageMs) || ageMs < -60_000) return localTime(iso, timeZone)
  // Two of a unit at least: "9 days ago" says more than "1 week ago".
  const [unit, unitMs] =
    ageUnits.find(([name, ms]) => ageMs >= (name === 'week' || name === 'month' ? 2 : 1) * ms) ?? []
  return unit === undefined ? 'just now' : `${countText(Math.floor(ageMs / unitMs), unit)} ago`
}

/** An age on a terminal. In a pipe the full time, for programs. */
export const timeText = (iso: string | null, screen: Screen): string =>
  screen.width === null ? localTime(iso, screen.timeZone) : ageText(iso, screen)

/** `850 ms`, `4.2 s`, `3 min 5 s`, `2 h 4 min`, `3 d 1 h`. */
export function durationText(durationMs: number): string {
  const seconds = Math.round(durationMs / 1000)
  if (durationMs < 1000) return `${Math.round(durationMs)} ms`
  if (durationMs < 59_950) return `${(durationMs / 1000).toFixed(1)} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3600)} h`
}

/** `512 B`, `1.5 MB`: in powers of 1000, like the sizes of disks. */
export function bytesText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let amount = bytes
  let unit = 0
  while (amount >= 999.5 && unit < units.length - 1) {
    amount /= 1000
    unit += 1
  }
  return `${unit === 0 ? amount : amount.toFixed(1)} ${units[unit] ?? ''}`
}

/** `1 chat`, `12,345 chats`. */
export function countText(count: number, one: string, many: string = `${one}s`): string {
  return `${numberText(count)} ${count === 1 ? one : many}`
}

/** `2 chats and 1 message`: what was deleted in Cursor. */
export const lossText = ({ chats, messages }: { readonly chats: number; readonly messages: number }): string =>
  [...(chats > 0 ? [countText(chats, 'chat')] : []), ...(messages > 0 ? [countText(messages, 'message')] : [])].join(
    ' and ',
  )

/** A count that may be a lower bound. */
export const atLeast = (isExact: boolean, counted: string): string => `${isExact ? '' : 'at least '}${counted}`

/** What a date range leaves out. */
export const undatedText = (messages: number): string =>
  `${countText(messages, 'message')} without a time not counted.\n`

export const numberText = (count: number): string => count.toLocaleString('en-US')

/** `850`, `9.1k`, `138k`, `1.2M`. */
export const shortNumber = (count: number): string => shortFormat.format(count).replace('K', 'k')

const shortFormat = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 })

const SHORT_ID = 8

/**
 * The beginning of each id, long enough to tell it from the others: 8 characters, or more if others begin alike.
 * An id is never cut within a character.
 */
export function shortIds(ids: readonly string[]): ReadonlyMap<string, string> {
  const distinct = [...new Set(ids)].map((id) => ({ id, letters: Array.from(id) }))
  const shortened = distinct.map(({ id, letters }): [string, string] => {
    for (let length = SHORT_ID; length < letters.length; length += 1) {
      const short = letters.slice(0, length).join('')
      if (distinct.every((other) => other.id === id || !other.id.startsWith(short))) return [id, short]
    }
    return [id, id]
  })
  return new Map(shortened)
}

/** How ids are shown together: short on a terminal, whole in a pipe. */
export function shownIds(ids: readonly string[], { width }: Screen): (id: string) => string {
  const short = width === null ? null : shortIds(ids)
  return (id) => short?.get(id) ?? id
}

import type { Machine } from '../../api/answers/projects.ts'
import type { Screen } from './screen.ts'

/** A machine as the filter takes it. @param machine null: this machine */
export const machineText = (machine: Machine | null): string =>
  machine === null ? 'local' : `${machine.user}/${machine.name}`

/** Creating a format takes longer than using it a thousand times. */
const formats = new Map<string, Intl.DateTimeFormat>()

/** A time as `2026-02-19 14:03` in a zone, or `-` if it is unknown. */
export function localTime(iso: string | null, timeZone: string): string {
  const time = Date.parse(iso ?? '')
  if (Number.isNaN(time)) return '-'
  const format =
    formats.get(timeZone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' })
  formats.set(timeZone, format)
  return format.format(time)
}

/** Two of a unit at least, where that says more: "9 days ago" and not "1 week ago". */
const ageUnits = [
  ['year', 365.25 * 86_400_000, 1],
  ['month', 30.4375 * 86_400_000, 2],
  ['week', 7 * 86_400_000, 2],
  ['day', 86_400_000, 1],
  ['hour', 3_600_000, 1],
  ['minute', 60_000, 1],
] as const

/** `5 minutes ago` on a terminal. In a pipe the full time, for programs; so are times in the future. */
export function timeText(iso: string | null, { width, timeZone, nowMs }: Screen): string {
  const ageMs = nowMs - Date.parse(iso ?? '')
  if (width === null || Number.isNaN(ageMs) || ageMs < -60_000) return localTime(iso, timeZone)
  const [unit, unitMs] = ageUnits.find(([, ms, least]) => ageMs >= least * ms) ?? []
  return unit === undefined ? 'just now' : `${countText(Math.floor(ageMs / unitMs), unit)} ago`
}

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
  let amount = bytes
  for (const unit of ['B', 'kB', 'MB', 'GB']) {
    if (amount < 999.5) return `${unit === 'B' ? amount : amount.toFixed(1)} ${unit}`
    amount /= 1000
  }
  return `${amount.toFixed(1)} TB`
}

/** `1 chat`, `12,345 chats`. */
export const countText = (count: number, one: string, many: string = `${one}s`): string =>
  `${numberText(count)} ${count === 1 ? one : many}`

export const numberText = (count: number): string => count.toLocaleString('en-US')

const SHORT_ID = 8

/**
 * How ids are shown together on a terminal: the beginning of each, 8 characters or more, that no other one has. An id is
 * never cut within a character.
 */
export function shortIds(ids: readonly string[]): (id: string) => string {
  const shortened = new Map<string, string>()
  for (const id of ids) {
    const letters = Array.from(id)
    const starts = letters.map((_, index) => letters.slice(0, index + 1).join('')).slice(SHORT_ID - 1)
    const isOwn = (start: string): boolean => ids.every((other) => other === id || !other.startsWith(start))
    shortened.set(id, starts.find(isOwn) ?? id)
  }
  return (id) => shortened.get(id) ?? id
}

/** The same; whole in a pipe. */
export const shownIds = (ids: readonly string[], { width }: Screen): ((id: string) => string) =>
  width === null ? (id) => id : shortIds(ids)

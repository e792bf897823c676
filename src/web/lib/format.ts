// As the reader's own locale writes them.
const numbers = new Intl.NumberFormat()
const compactNumbers = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const longDays = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' })
const times = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
const moments = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

export const UNKNOWN = 'unknown'

/** Unknown is never shown as 0. */
export const count = (value: number | null | undefined): string =>
  value === null || value === undefined ? UNKNOWN : numbers.format(value)

export const compact = (value: number | null | undefined): string =>
  value === null || value === undefined ? UNKNOWN : compactNumbers.format(value)

export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`

/** A count that may be a lower bound. */
export const atLeast = (isExact: boolean, counted: string): string => `${isExact ? '' : 'at least '}${counted}`

export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return UNKNOWN
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, value)) / 3))
  const scaled = value / 1000 ** power
  return `${power === 0 || scaled >= 100 ? Math.round(scaled) : scaled.toFixed(1)} ${units[power]}`
}

export const cents = (value: number | null | undefined): string =>
  value === null || value === undefined ? UNKNOWN : `$${(value / 100).toFixed(2)}`

export const percent = (share: number | null): string => (share === null ? UNKNOWN : `${Math.round(share * 100)}%`)

export const moment = (iso: string | null): string => (iso === null ? UNKNOWN : moments.format(new Date(iso)))

export const day = (iso: string | null): string => (iso === null ? '' : days.format(new Date(iso)))
export const timeOfDay = (iso: string): string => times.format(new Date(iso))

/** A local date, as the API reads it. */
export const dayOf = (date: Date): string =>
  `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}-${String(date.getDate()).padStart(2, '0')}`

/** The date some days after another, `YYYY-MM-DD`; '' if it is none. */
export function shiftedDay(date: string | null, by: number): string {
  if (date === null || !/^\d{4}-\d\d-\d\d$/.test(date)) return ''
  return new Date(Date.parse(date) + by * 86_400_000).toISOString().slice(0, 10)
}

/** The heading of a day in a list. */
export function dayHeading(iso: string | null): string {
  if (iso === null) return 'Time unknown'
  const [date, today] = [new Date(iso), new Date()]
  if (dayOf(date) === dayOf(today)) return 'Today'
  today.setDate(today.getDate() - 1)
  return dayOf(date) === dayOf(today) ? 'Yesterday' : longDays.format(date)
}

/** `5 min ago` for the last week, else a date. */
export function ago(iso: string | null): string {
  if (iso === null) return 'time unknown'
  const minutes = Math.floor((Date.now() - Date.parse(iso)) / 60_000)
  if (minutes < 0) return days.format(new Date(iso))
  if (minutes < 1) return 'just now'
  if (minutes < 60) return `${minutes} min ago`
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ago`
  if (minutes < 7 * 24 * 60) return plural(Math.floor(minutes / 60 / 24), 'day') + ' ago'
  return days.format(new Date(iso))
}

export function duration(ms: number | null): string {
  if (ms === null) return UNKNOWN
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`
  if (seconds < 48 * 3600) return `${(seconds / 3600).toFixed(1)} h`
  return `${Math.round(seconds / 86_400)} days`
}

export const shortPath = (path: string): string => path.split(/[\\/]/).slice(-2).join('/')

/** Tab and line ends stay. */
const HIDDEN = /(?![\t\n\r])[\p{Cc}\p{Bidi_Control}]/gu

/** Control signs, and signs that change the direction of text, are made visible. */
export const visible = (text: string): string => text.replace(HIDDEN, '\u{fffd}')

/** The first `max` signs of a long text. */
export const cut = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max)}…` : text)

/** Tags and signs of Markdown that stand before the first word, and after the last one. */
const MACHINE_LEAD = /^(?:<\/?[a-z][\w-]*(?:\s[^<>]*)?>|[#>*`~=|_-]+(?=\s)|```\w*|\s)+/
const MACHINE_END = /(?:<\/[a-z][\w-]*>|```|\s)+$/

/** A title as a person reads it: what machines wrap around the words of a prompt is left out. At most 160 signs. */
export function titleOf(title: string): string {
  const plain = title.replace(MACHINE_LEAD, '').replace(MACHINE_END, '')
  // Of a JSON text its first sentence, if it has one.
  const isJson = /^[[{]\s*["{[\]}]/.test(plain)
  const words = isJson ? (/"((?:[^"\\]|\\.)*\s(?:[^"\\]|\\.)*)/.exec(plain)?.[1] ?? '').replaceAll('\\"', '"') : plain
  return visible(cut(words.replaceAll(/\s+/g, ' ').trim(), 160)) || 'Untitled chat'
}

export const chatAddress = (id: string, query = '', messageId: string | null = null): string =>
  `/chats/${encodeURIComponent(id)}${query === '' ? '' : `?q=${encodeURIComponent(query)}`}${messageId === null ? '' : `#${encodeURIComponent(messageId)}`}`

export const projectAddress = (id: string): string => `/projects/${encodeURIComponent(id)}`

/** The page of a file. @param project its id; without it, files of this path in any project */
export const fileAddress = (path: string, project?: string | null): string =>
  `/files?path=${encodeURIComponent(path)}${project === undefined || project === null ? '' : `&project=${encodeURIComponent(project)}`}`

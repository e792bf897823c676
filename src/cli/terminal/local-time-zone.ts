let known: string | undefined

/** The zone of the machine. Some 15 ms when it is first asked: not before it is needed. */
export function localTimeZone(): string {
  known ??= usableZone(Intl.DateTimeFormat().resolvedOptions().timeZone, -new Date().getTimezoneOffset())
  return known
}

/**
 * A zone that dates can be read in. Where TZ is empty or names a zone as POSIX does (`UTC+3`, `UTC0`), Node goes by an
 * offset, and tells no name for it, or one that it does not take itself: then it is the zone of that offset, where one
 * has it, else UTC.
 */
export function usableZone(name: string | undefined, minutesEast: number): string {
  const hours = Math.abs(minutesEast) / 60
  // The signs of these are those of POSIX: what lies east of Greenwich is less.
  const ofOffset = hours === 0 ? 'UTC' : `Etc/GMT${minutesEast > 0 ? '-' : '+'}${hours}`
  return [name, ofOffset].find((zone) => zone !== undefined && isZone(zone)) ?? 'UTC'
}

function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

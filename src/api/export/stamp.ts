export interface MaskedCount {
  /** What kind of secret. */
  readonly kind: string
  readonly count: number
}

/** What a file says of its own making. */
export interface ExportStamp {
  /** Of the program that wrote it. */
  readonly version: string
  readonly exportedAt: string | null
  /** What was masked by the time that it is asked; left out where nothing is masked. */
  readonly masked?: () => readonly MaskedCount[]
}

/** For people; the command line finds it at a file's end, to say it again. Null where nothing is masked. */
export function maskedSentence({ masked }: Pick<ExportStamp, 'masked'> = {}): string | null {
  if (masked === undefined) return null
  const counts = masked().map(({ kind, count }) => `${count} ${kind}`)
  return `Masked in this file: ${counts.length === 0 ? 'nothing' : counts.join(', ')}.`
}

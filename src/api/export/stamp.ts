export interface MaskedCount {
  /** The kind of secret. */
  readonly kind: string
  readonly count: number
}

/** Facts about the export, which the file contains. */
export interface ExportStamp {
  /** Version of this program. */
  readonly version: string
  readonly exportedAt: string | null
  /** What has been masked so far. Missing if masking is off. */
  readonly masked?: () => readonly MaskedCount[]
}

/** A sentence for people. The command line reads it at the end of the file and prints it. Null if masking is off. */
export function maskedSentence({ masked }: Pick<ExportStamp, 'masked'> = {}): string | null {
  if (masked === undefined) return null
  const counts = masked().map(({ kind, count }) => `${count} ${kind}`)
  return `Masked in this file: ${counts.length === 0 ? 'nothing' : counts.join(', ')}.`
}

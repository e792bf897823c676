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

/** How many secrets were masked, for people. The command line reads it at the end of the file. Null if masking is off. */
export function maskedSentence({ masked }: Pick<ExportStamp, 'masked'> = {}): string | null {
  if (masked === undefined) return null
  const counts = masked()
  const total = counts.reduce((sum, { count }) => sum + count, 0)
  const kinds = counts.map(({ kind, count }) => `${count} ${kind}`).join(', ')
  const what = total === 0 ? 'nothing' : `${total} ${total === 1 ? 'secret' : 'secrets'} (${kinds})`
  return `Masked in this file: ${what}. No rule finds every secret.`
}

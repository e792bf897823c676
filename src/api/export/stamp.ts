/** What a file for programs says of its own making. */
export interface ExportStamp {
  /** Of the program that wrote it. */
  readonly version: string
  readonly exportedAt: string | null
}

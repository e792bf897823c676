/** Another spelling of one word of a query, which something holds. */
export interface Spelling {
  readonly text: string
  /** Slips between the two. */
  readonly distance: number
  /** How many messages and titles hold it, up to 10,000. */
  readonly count: number
  /** True where it is how longer ones begin. */
  readonly isPrefix?: boolean
}

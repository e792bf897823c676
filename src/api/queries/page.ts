/** What part of a list is asked for. */
export interface PageRequest {
  readonly limit: number
  readonly offset: number
}

/** The shape of every list. `total` counts what the filters let through, not what this page holds. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly total: number
  readonly limit: number
  readonly offset: number
}

/** Which part of a list is wanted. */
export interface PageRequest {
  readonly limit: number
  readonly offset: number
}

/** The shape of every list. `total` counts all items that pass the filters, not only this page. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly total: number
  readonly limit: number
  readonly offset: number
}

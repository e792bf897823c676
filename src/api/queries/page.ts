/** Which part of a list is wanted. */
export interface PageRequest {
  readonly limit: number
  readonly offset: number
}

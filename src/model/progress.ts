/** Units of work, such as chats: how many are done, and how many there are. */
export interface Progress {
  readonly done: number
  readonly total: number
}

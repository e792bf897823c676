/** What is there of a task on another thread. `later`: nothing yet. `failed`: do the work on this thread. */
export type Taken<Value> =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'later' | 'end' | 'failed' }

/** A task on another thread. It works ahead of this one by a few values. */
export interface AsideTask<Value> {
  /** Waits for the next value, but only a few milliseconds. */
  take(): Taken<Value>
  /** Ends this task and all earlier ones. */
  cancel(): void
}

export type AsideTaskName = 'read-chats' | 'cut-terms'

/** Another thread that takes over a part of a large pass. */
export interface Aside {
  /** Starts the thread, which takes some 100 ms. Call it early if a task will come. */
  wake(): void
  /**
   * Starts a task. Tasks run one after the other; one of another name ends those before it.
   * @returns null while the thread is starting, or after it has failed: then do the work on this thread
   */
  start<Value>(name: AsideTaskName, input: unknown): AsideTask<Value> | null
}

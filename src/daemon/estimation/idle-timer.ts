/** Measures how long the daemon has been idle. Short work, such as reading a few new messages, does not end idle time. */
export class IdleTimer {
  readonly #momentMs: number
  #sinceMs: number | null = null
  #busySinceMs: number | null = null

  /** @param momentMs work that is shorter than this does not end idle time */
  constructor(momentMs: number) {
    this.#momentMs = momentMs
  }

  /** Must be called often: changes between two calls are not seen. The clock may be set back. */
  note(isResting: boolean, nowMs: number): void {
    if (isResting) {
      this.#busySinceMs = null
      this.#sinceMs = Math.min(this.#sinceMs ?? nowMs, nowMs)
      return
    }
    this.#busySinceMs = Math.min(this.#busySinceMs ?? nowMs, nowMs)
    if (nowMs - this.#busySinceMs >= this.#momentMs) this.#sinceMs = null
  }

  get isIdle(): boolean {
    return this.#sinceMs !== null
  }

  /** How long it has been idle. 0 if it is busy. */
  idleMs(nowMs: number): number {
    return this.#sinceMs === null ? 0 : Math.max(0, nowMs - this.#sinceMs)
  }
}

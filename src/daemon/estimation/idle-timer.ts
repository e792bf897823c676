/** How long nothing kept the daemon busy, but for what is done in a moment: a few messages that a chat grew by. */
export class IdleTimer {
  readonly #momentMs: number
  #sinceMs: number | null = null
  #busySinceMs: number | null = null

  /** @param momentMs what keeps it busy for less does not end the calm */
  constructor(momentMs: number) {
    this.#momentMs = momentMs
  }

  /** Is to be told again and again: what lies between two looks is not seen. The clock may be set back. */
  note(isResting: boolean, nowMs: number): void {
    if (isResting) {
      this.#busySinceMs = null
      this.#sinceMs = Math.min(this.#sinceMs ?? nowMs, nowMs)
      return
    }
    this.#busySinceMs = Math.min(this.#busySinceMs ?? nowMs, nowMs)
    if (nowMs - this.#busySinceMs >= this.#momentMs) this.#sinceMs = null
  }

  get isThere(): boolean {
    return this.#sinceMs !== null
  }

  /** 0 where there is none. */
  lastedMs(nowMs: number): number {
    return this.#sinceMs === null ? 0 : Math.max(0, nowMs - this.#sinceMs)
  }
}

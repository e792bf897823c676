/**
 * An expected error that is shown to the user: what happened, and what to do about it. Any room may throw it; it is printed
 * once, where the program was started. A bug is not a UserError.
 */
export class UserError extends Error {
  override readonly name = 'UserError'
  readonly code: string
  /** One sentence about what the user can do; empty if the message already says it. */
  readonly hint: string
  /** Status over HTTP: 400 for wrong usage, 503 for what may pass, or what the thrower says. */
  readonly status: number
  /** Exit code if the error ends the program: 1 failure, 2 wrong usage or settings, 3 another daemon is running. */
  readonly exitCode: 1 | 2 | 3

  constructor(
    code: string,
    message: string,
    hint: string,
    options: { status?: number; exitCode?: 1 | 2 | 3; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.hint = hint
    this.exitCode = options.exitCode ?? 1
    this.status = options.status ?? (this.exitCode === 2 ? 400 : 503)
  }
}

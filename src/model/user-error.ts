/**
 * The world's trouble, told to a person: what happened and what to do about it. Thrown by rooms, printed once where
 * the program was started. A bug is not a UserError.
 */
export class UserError extends Error {
  override readonly name = 'UserError'
  readonly code: string
  /** One sentence on what the user can do; empty where the message ends in it. */
  readonly hint: string
  /** The process' exit code where this ends the program: 1 failed, 2 wrong usage or settings, 3 another daemon. */
  readonly exitCode: 1 | 2 | 3

  constructor(code: string, message: string, hint: string, options: { exitCode?: 1 | 2 | 3; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.hint = hint
    this.exitCode = options.exitCode ?? 1
  }
}

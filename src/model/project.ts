/** Location of a project's files if they are on another machine. */
export interface Remote {
  readonly kind: string
  readonly host: string
}

declare module 'pgpass' {
  /** Looks for a password in the file that PGPASSFILE names, by default `~/.pgpass`. */
  export default function pgPass(connection: object, found: (password: string | undefined) => void): void
}

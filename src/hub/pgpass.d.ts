declare module 'pgpass' {
  interface Connection {
    readonly host: string
    readonly port: number
    readonly user: string
    readonly database: string
  }
  /** Looks for a password in the file that PGPASSFILE names, by default `~/.pgpass`. */
  export default function pgPass(connection: Connection, found: (password: string | undefined) => void): void
}

import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** Stands between a machine and its hub, and acts at a certain piece of what they say to each other. */
export class CutProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** How many pieces passed. */
  pieces = 0
  /** At which piece to act; never by default. */
  at = Infinity
  /** What to do then, instead of passing the piece on; cuts the connections by default. @returns whether to pass it on */
  act: () => boolean = () => this.cut()

  private constructor(server: Server) {
    this.#server = server
  }

  static async start(port: number): Promise<CutProxy> {
    const server = createServer()
    const proxy = new CutProxy(server)
    server.on('connection', (from) => proxy.#join(from, connect(port, '127.0.0.1')))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return proxy
  }

  #join(from: Socket, to: Socket): void {
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      this.#sockets.add(one)
      one.on('error', () => undefined)
      one.on('close', () => {
        this.#sockets.delete(one)
        other.destroy()
      })
      one.on('data', (piece) => {
        this.pieces += 1
        if (this.pieces !== this.at || this.act()) other.write(piece)
      })
    }
  }

  cut(): false {
    for (const socket of this.#sockets) socket.destroy()
    return false
  }

  url(database: string): string {
    return `postgres://admin@127.0.0.1:${(this.#server.address() as AddressInfo).port}/${database}`
  }

  async stop(): Promise<void> {
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

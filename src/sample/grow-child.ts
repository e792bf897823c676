// The running agent of the sample home. It is a separate process: a process that closes a file loses all its locks on it,
// so one process must not both read and write a store.
import { CursorHome } from './cursor-home.ts'
import { loseSome } from './demo-home.ts'
import { liveMoves } from './live-chats.ts'

const [folder = '', seed = ''] = process.argv.slice(2)
const home = new CursorHome(folder)
const store = home.global()
const moves = liveMoves(seed)

function goOn(): void {
  const { afterMs, write } = moves.next().value
  setTimeout(() => {
    write(store, Date.now())
    goOn()
  }, afterMs)
}

// What is deleted before it was read is not a loss, so the daemon's process says when all is read.
process.once('message', () => loseSome(store))

// Ctrl-C reaches every process of the terminal, but this one must run until the daemon ends it.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
process.on('disconnect', () => {
  home.close()
  process.exit(0)
})
goOn()

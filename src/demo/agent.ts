// The agent at work in the demo's Cursor. It is a separate process: a process that closes a file loses all its locks on
// it, so one process must not both read and write a store.
import { join } from 'node:path'
import { readScript } from './packed.ts'
import { DemoStore, GLOBAL_STORE, userFolder } from './store.ts'

const folder = process.argv[2] ?? ''
const store = new DemoStore(join(userFolder(folder), GLOBAL_STORE))
const { moves, losses } = readScript(folder, Date.now())

function goOn(number: number): void {
  const move = moves[number]
  if (move === undefined) return
  setTimeout(() => {
    store.write(move.rows)
    goOn(number + 1)
  }, move.afterMs)
}

// What is deleted before it was read is not a loss, so the daemon's process says when all is read.
process.once('message', () => store.write(losses))

// Ctrl-C reaches every process of the terminal, but this one must run until the daemon ends it.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
process.on('disconnect', () => {
  store.close()
  process.exit(0)
})
goOn(0)
